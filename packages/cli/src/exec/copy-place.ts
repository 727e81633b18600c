import { rmSync } from 'node:fs'
import { type ByteString, fromByteString, toByteString } from '@cairn/protocol'
import { type BatchOperation, spelled } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { LocalSource } from '../copy/local-source.ts'
import { CopyProgress } from '../copy/observer.ts'
import { streamTree } from '../copy/stream-tree.ts'
import type { TreeEntry, TreeSource } from '../copy/tree.ts'
import { unpackTree } from '../copy/unpack-tree.ts'
import { cliError } from '../errors.ts'
import type { Remote } from '../remote/open.ts'
import { NewDirectory } from './new-directory.ts'
import { scan, type Tree } from './scan.ts'
import type { WorkPlace } from './work-place.ts'

const batchMax = 1000
const root: TreeEntry = { path: '', kind: 'directory', size: 0, mode: 0o755, version: '' }

/** Copies the tree here, and afterwards what is different back to the layer. */
export async function openCopy(cli: Cli, directory: string, remote: Remote): Promise<WorkPlace> {
  const progress = new CopyProgress(cli)
  const archive = await remote.files.archive(remote.path, { signal: cli.signal })
  await unpackTree(archive, new NewDirectory(directory), root, progress, cli.signal)
  await progress.end()
  const before = await scan(directory)
  return {
    kind: 'copy',
    directory,
    finish: async () => bringBack(cli, remote, directory, before),
    remove: async () => rmSync(directory, { recursive: true, force: true }),
  }
}

async function bringBack(cli: Cli, remote: Remote, directory: string, before: Tree): Promise<void> {
  const after = await scan(directory)
  await removeAll(cli, remote, goneFrom(before, after))
  const changed = [...after.values()].filter((entry) => isChanged(before.get(entry.path), entry))
  if (changed.length === 0) return
  const progress = new CopyProgress(cli)
  const source = new LocalSource(directory)
  const part: TreeSource = {
    async *entries() {
      yield root
      yield* changed
    },
    open: (entry) => source.open(entry),
  }
  if (!(await streamTree(part, remote, progress, cli.signal)))
    throw cliError(
      'incomplete_copy',
      `bring the changes back to :${remote.path}`,
      'the layer has changed at the same paths meanwhile',
      'Run it again, or in a layer of its own: cairn exec --new-layer.',
    )
  await progress.end()
}

/** A change of content, mode or owner moves the time that programs cannot set; of a directory only its mode counts. */
function isChanged(before: TreeEntry | undefined, after: TreeEntry): boolean {
  if (after.path === '') return false
  if (before?.kind !== after.kind) return true
  return after.kind === 'directory' ? before.mode !== after.mode : before.version !== after.version
}

/** What is no longer there, or is something else now; a directory stands for all that was in it. */
function goneFrom(before: Tree, after: Tree): ByteString[] {
  const isGone = ({ path, kind }: TreeEntry): boolean => after.get(path)?.kind !== kind
  const gone = new Set([...before.values()].filter(isGone).map(({ path }) => path))
  return [...gone].filter((path) => !gone.has(path.slice(0, Math.max(0, path.lastIndexOf('/')))))
}

async function removeAll(cli: Cli, remote: Remote, paths: readonly ByteString[]): Promise<void> {
  const above = toByteString(new TextEncoder().encode(remote.path.replace(/\/$/, '')))
  const operations = paths.map((path): BatchOperation => ({
    op: 'remove',
    recursive: true,
    ...spelled('path', fromByteString(`${above}/${path}`)),
  }))
  for (let at = 0; at < operations.length; at += batchMax)
    await remote.workspace.batch(operations.slice(at, at + batchMax), { signal: cli.signal })
}
