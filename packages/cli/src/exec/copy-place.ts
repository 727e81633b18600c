import { rm } from 'node:fs/promises'
import { type ByteString, fromByteString, toByteString } from '@cairn/protocol'
import { type BatchOperation, spelled } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { LocalSink } from '../copy/local-sink.ts'
import { LocalSource } from '../copy/local-source.ts'
import { CopyProgress } from '../copy/observer.ts'
import { streamTree } from '../copy/stream-tree.ts'
import type { TreeEntry, TreeSource } from '../copy/tree.ts'
import { unpackTree } from '../copy/unpack-tree.ts'
import { cliError } from '../errors.ts'
import type { Remote } from '../remote/open.ts'
import type { WorkPlace } from './work-place.ts'

type Tree = ReadonlyMap<ByteString, TreeEntry>

const batchMax = 1000
const root: TreeEntry = { path: '', kind: 'directory', size: 0, mode: 0o755, version: '' }

/** Copies the tree here, and afterwards what is different back to the layer. */
export async function openCopy(cli: Cli, directory: string, remote: Remote): Promise<WorkPlace> {
  const progress = new CopyProgress(cli)
  const archive = await remote.files.archive(remote.path, { signal: cli.signal })
  const sink = new LocalSink(directory, { resume: false })
  await unpackTree(archive, sink, root, progress, cli.signal)
  await progress.end()
  const source = new LocalSource(directory)
  const before = await scan(source)
  return {
    kind: 'copy',
    directory,
    finish: async () => bringBack(cli, remote, source, before, await scan(source)),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

async function scan(source: LocalSource): Promise<Tree> {
  const tree = new Map<ByteString, TreeEntry>()
  for await (const entry of source.entries()) tree.set(entry.path, entry)
  return tree
}

async function bringBack(
  cli: Cli,
  remote: Remote,
  source: TreeSource,
  before: Tree,
  after: Tree,
): Promise<void> {
  await removeAll(cli, remote, goneFrom(before, after))
  const changed = [...after.values()].filter((entry) => isChanged(before.get(entry.path), entry))
  if (changed.length === 0) return
  const progress = new CopyProgress(cli)
  const part: TreeSource = {
    async *entries() {
      yield root
      yield* changed
    },
    open: (...call) => source.open(...call),
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
