import { isDeepStrictEqual } from 'node:util'
import type { BranchRecord, LogRow, Stores } from '@cairn/core'
import { type BranchId, CairnError, isCairnError } from '@cairn/protocol'
import type { AdoptionParts, WorkspaceRecord } from '../workspaces/workspace-keeper.ts'
import { type BundleContents, receiveBundles } from './receive-bundles.ts'
import type { BundleHead } from './head.ts'

interface ImportPlace extends AdoptionParts {
  readonly owner: string
  /** The one it had, unless given. */
  readonly name: string | undefined
}

/**
 * Makes the workspace of a bundle, with its ids, so that its logs stay as they are. It appears at the end, as a whole. An
 * import that was cut off is invisible, and can be repeated.
 */
export async function importBundles(
  body: AsyncIterable<Uint8Array>,
  place: ImportPlace,
): Promise<WorkspaceRecord> {
  let stores: Stores | undefined
  const lazily = (): Stores => stores!
  const contents = await receiveBundles(body, {
    nodes: () => lazily().nodes,
    blobs: () => lazily().blobs,
    begin: async (head) => {
      stores = place.storesOf(head.workspace.id)
      await requireAbsent(place, stores, head)
    },
    putRows: (branch, rows) => putRows(lazily(), branch, rows),
    putBlobs: (blobs) => lazily().blobs.store(blobs),
    // No journals: the key that signs them stays with the server that wrote them. They are read from the bundle.
  })
  return finish(contents, place, stores!)
}

/** Before anything is stored. A branch that was made by an import of the same bundle, which was cut off, is no other one. */
async function requireAbsent(
  { owner, directory }: ImportPlace,
  { refs }: Stores,
  { workspace, branches }: BundleHead,
): Promise<void> {
  const { id, name } = workspace
  // Its content would be theirs: a pool is never shared by two owners.
  if (await directory.hasOther(owner, id)) throw isHere(name, 'Import it into another server.')
  if (await directory.find(owner, id)) throw isHere(name, 'cairn ctx fork makes another one of it.')
  if (await directory.findDeleted(owner, id, ''))
    throw isHere(name, `It was deleted here: cairn ws restore ${id} brings it back for a week.`)
  for (const branch of branches) {
    const there = await refs.getBranch(branch.id).catch(missingBranch)
    if (there && !isDeepStrictEqual(plain(there), plain(branch)))
      throw isHere(name, 'Import it into another server.')
  }
}

/** Without the fields that are undefined: only some stores name them. */
function plain(branch: BranchRecord): unknown {
  return JSON.parse(JSON.stringify(branch))
}

function missingBranch(error: unknown): undefined {
  if (isCairnError(error, 'branch_missing')) return undefined
  throw error
}

/** Rows that are there were brought by an import that was cut off. */
async function putRows({ log }: Stores, branch: BranchId, rows: readonly LogRow[]): Promise<void> {
  const there = new Set<string>()
  const [first, last] = [rows[0]!.seq, rows.at(-1)!.seq]
  for (let seq = first - 1; seq < last;) {
    const some = await log.read(branch, seq, last - seq)
    if (some.length === 0) break
    for (const row of some) there.add(`${row.seq} ${row.hash}`)
    seq = some.at(-1)!.seq
  }
  const fresh = rows.filter(({ seq, hash }) => !there.has(`${seq} ${hash}`))
  if (fresh.length > 0) await log.append(branch, fresh)
}

async function finish(
  { head }: BundleContents,
  { owner, name, directory, layers }: ImportPlace,
  { refs }: Stores,
): Promise<WorkspaceRecord> {
  const { id, createdAt, nextIno } = head.workspace
  for (const branch of head.branches) {
    const there = await refs.getBranch(branch.id).catch(missingBranch)
    if (!there) await refs.createBranch(branch)
  }
  for (const checkpoint of head.checkpoints) await refs.putCheckpoint(checkpoint)
  for (const layer of head.layers)
    if (!(await layers.create(layer)) && !(await layers.find(id, layer.id)))
      throw isHere(head.workspace.name, `A layer ${layer.id} is there.`)
  for (const label of head.labels) await layers.putLabel(label)
  for (const { layer, settings } of head.settings) await layers.putSettings(id, layer, settings)
  const record = { id, owner, name: name ?? head.workspace.name, pool: id, createdAt }
  const main = `${id}/main` as BranchId
  await directory.create(record, { name: 'main', id: main }, nextIno)
  // DURABLE: all of the workspace is on disk, and can be found.
  return record
}

function isHere(name: string, hint: string): CairnError {
  return new CairnError('workspace_exists', {
    what: `import workspace '${name}'`,
    reason: 'this server has it, or had it',
    subject: name,
    hint,
  })
}
