import { batchBytesMax, type Branch, type Pacer, type Steps } from '@cairn/core'
import type { ByteString } from '@cairn/protocol'
import { createLayer, deleteLayer } from '../layers/layers.ts'
import { commitUnseen } from '../merging/commit-and-rebase.ts'
import { once } from '../once/once.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { applyArchive, type ApplyOptions } from './apply-archive.ts'
import { InodeRuns } from './inode-runs.ts'
import type { ArchiveEntry } from './receive-archive.ts'

interface ImportTarget {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly asker: Asker
}

interface Imported {
  /** In the branch. */
  readonly seq: number
  /** What the entries became, in their order. Undefined for a repeated request, which did nothing. */
  readonly inodes: InodeRuns | undefined
}

/** Room for what stands in a batch beside its operations, and for estimates that are too low. */
const partBytesMax = batchBytesMax * 0.7
const entryBytes = 90
const pieceBytes = 70

/**
 * Puts received entries at a path, all or none. One batch where they fit; otherwise they are put into a layer in parts,
 * and the layer is committed. A failure deletes the layer, and a change of the same files meanwhile is a conflict.
 */
export async function importArchive(
  target: ImportTarget,
  path: ByteString,
  entries: readonly ArchiveEntry[],
  options: ApplyOptions,
): Promise<Imported> {
  const { pacer } = target.workspace.stores.nodes
  const parts = await splitIntoParts(entries, pacer)
  if (parts.length <= 1) return applyPart(target, path, entries, options)
  // Once more, because what a later part put into a directory changed its time.
  const directories = entries.filter(({ kind }) => kind === 'directory')
  const again = options.keepTimes ? await splitIntoParts(directories, pacer) : []
  return importInParts(target, path, { parts, again }, options)
}

async function applyPart(
  { workspace, branch, asker }: ImportTarget,
  path: ByteString,
  entries: readonly ArchiveEntry[],
  options: ApplyOptions,
): Promise<Imported> {
  let inodes: InodeRuns | undefined
  const { receipt } = await workspace.paths.change(branch, asker, function* (edit): Steps<void> {
    inodes = yield* applyArchive(edit, path, entries, options)
  })
  return { seq: receipt.seq, inodes }
}

type Part = readonly ArchiveEntry[]

async function importInParts(
  { workspace, branch, asker }: ImportTarget,
  path: ByteString,
  { parts, again }: { readonly parts: readonly Part[]; readonly again: readonly Part[] },
  options: ApplyOptions,
): Promise<Imported> {
  let inodes: InodeRuns | undefined
  const asked = { what: 'import', options: { path, print: asker.print?.() } }
  const { seq } = await once(workspace, asker, asked, async () => {
    // The request as a whole has the key; its steps are repeated with it.
    const step = { ...asker, idempotencyKey: undefined }
    const parent = (await workspace.layers.findByBranch(branch.id))?.id ?? 'main'
    const message = `import into ${path}`
    const { id } = await createLayer(workspace, step, { parent, message }, 'import')
    try {
      const record = await workspace.layers.find(workspace.info.id, id)
      const stage = { workspace, branch: await workspace.openBranch(record!.branch), asker: step }
      const runs = new InodeRuns()
      for (const part of parts) runs.append((await applyPart(stage, path, part, options)).inodes!)
      for (const part of again) await applyPart(stage, path, part, options)
      inodes = runs
      const wishes = { message, mergeText: false, checkpoint: undefined }
      return { seq: await commitUnseen(workspace, step, id, wishes) }
    } catch (error) {
      await dropLayer(workspace, asker, id)
      throw error
    }
  })
  return { seq, inodes }
}

/** The client may have gone: that must not stop it. What cannot be deleted now stays as an open layer, for the owner. */
async function dropLayer(workspace: OpenWorkspace, { actor }: Asker, id: string): Promise<void> {
  const asker = { actor, idempotencyKey: undefined }
  await deleteLayer(workspace, asker, id, false).catch(() => {})
}

async function splitIntoParts(
  entries: readonly ArchiveEntry[],
  pacer: Pacer,
): Promise<readonly Part[]> {
  const parts: ArchiveEntry[][] = [[]]
  let bytes = 0
  for (const entry of entries) {
    if (pacer.isDue()) await pacer.rest()
    const size = bytesOf(entry)
    if (bytes + size > partBytesMax && parts.at(-1)!.length > 0) {
      parts.push([])
      bytes = 0
    }
    parts.at(-1)!.push(entry)
    bytes += size
  }
  return parts
}

/** An upper bound of what an entry takes in a batch. */
function bytesOf({ names, target = '', pieces }: ArchiveEntry): number {
  const nameBytes = names.at(-1)?.length ?? 0
  return entryBytes + nameBytes + target.length + pieces.length * pieceBytes
}
