import {
  diffPaths,
  type Inode,
  isBelow,
  mapPaced,
  namesOf,
  type PathChange,
  quotePath,
  readFile,
  resolvePath,
  type Snapshot,
  textMergeBytesMax,
  TreeView,
  type View,
  superuser,
} from '@cairn/core'
import {
  type ByteString,
  isCairnError,
  type Ino,
  type LayerChange,
  type Name,
} from '@cairn/protocol'
import { textWorker } from '../ports/text-worker.ts'
import type { Branches } from '../workspaces/branches.ts'
import { describeChange } from './describe.ts'
import { findCheckpoint, findLayer, type LayerPlace, targetOf } from './references.ts'
import { RenamedDirectories } from './renamed-directories.ts'

/** The two ends of a comparison. */
export interface DiffEnds {
  readonly before: Snapshot
  readonly after: Snapshot
  /** Only what is there or below. */
  readonly path: ByteString
  /** The part of a change that the caller may see. */
  readonly see?: (change: PathChange) => PathChange | undefined
}

/**
 * Finds two points: `base`, `head`, `parent`, a checkpoint of the layer, another layer or `main`, or a checkpoint of
 * one as `LAYER@CHECKPOINT`. From the base to the head unless given.
 */
export async function findEnds(
  workspace: Branches,
  reference: string,
  from: string | undefined,
  to: string | undefined,
  path: ByteString = '/',
): Promise<DiffEnds> {
  const place = await findLayer(workspace, reference)
  return {
    before: await findSnapshot(workspace, place, from ?? 'base'),
    after: await findSnapshot(workspace, place, to ?? 'head'),
    path,
  }
}

async function findSnapshot(
  workspace: Branches,
  place: LayerPlace,
  point: string,
): Promise<Snapshot> {
  if (point === 'head') return headOf(place)
  const { record } = place
  if (point === 'parent' && record) return headOf(await targetOf(workspace, { ...place, record }))
  const own = await findOwn(workspace, place, point)
  if (own) return own
  const at = point.lastIndexOf('@')
  const other = await findLayer(workspace, at > 0 ? point.slice(0, at) : point)
  if (at > 0) return (await findCheckpoint(workspace, other, point.slice(at + 1))).snapshot
  return other.checkpoint?.snapshot ?? headOf(other)
}

async function findOwn(
  workspace: Branches,
  place: LayerPlace,
  point: string,
): Promise<Snapshot | undefined> {
  try {
    return (await findCheckpoint(workspace, place, point)).snapshot
  } catch (error) {
    if (isCairnError(error, 'checkpoint_missing') && point !== 'base') return undefined
    throw error
  }
}

async function headOf({ branch }: LayerPlace): Promise<Snapshot> {
  await branch.refresh()
  return (await branch.fold()).snapshot
}

export async function listDiff(
  workspace: Branches,
  ends: DiffEnds,
): Promise<readonly LayerChange[]> {
  const changes = await diffPaths(workspace.stores.nodes, ends.before, ends.after)
  return mapPaced(workspace.stores.nodes.pacer, changesBelow(changes, ends), describeChange)
}

/** Those of the path that was asked about, as far as the asker may know of them. */
function* changesBelow(
  changes: readonly PathChange[],
  { path: top, see }: DiffEnds,
): Generator<PathChange> {
  const root = namesOf(top)
  for (const change of changes) {
    const seen = see ? see(change) : change
    if (!seen) continue
    const { path, from } = seen
    if (isBelow(path, root) || (from !== undefined && isBelow(from, root))) yield seen
  }
}

/** With the number of lines that came and went, where there are lines. */
export async function* statDiff(workspace: Branches, ends: DiffEnds): AsyncGenerator<LayerChange> {
  const changes = await diffPaths(workspace.stores.nodes, ends.before, ends.after)
  const renamed = new RenamedDirectories(changes)
  const wanted = changesBelow(changes, ends)
  for await (const { change, was, is } of readDiff(workspace, ends, wanted, renamed)) {
    const job = { type: 'stat', before: was.bytes, after: is.bytes } as const
    const lines = was.tooLarge || is.tooLarge ? undefined : await textWorker.run(job)
    yield { ...describeChange(change), ...lines }
  }
}

const latin1 = (text: string): Uint8Array => Buffer.from(text, 'latin1')

/** A patch that `git apply` takes, file by file. */
export async function* patchDiff(workspace: Branches, ends: DiffEnds): AsyncGenerator<Uint8Array> {
  const { nodes } = workspace.stores
  const changes = await diffPaths(nodes, ends.before, ends.after)
  const renamed = new RenamedDirectories(changes)
  const files = await renamed.withFilesBelow(nodes, ends.after, changes)
  const wanted = changesBelow(files, ends)
  for await (const { change, was, is } of readDiff(workspace, ends, wanted, renamed)) {
    if (change.fileKind === 'directory') continue
    const [path, from] = [change.path.join('/'), (change.from ?? change.path).join('/')]
    yield latin1(`diff --git ${quotePath(`a/${from}`)} ${quotePath(`b/${path}`)}\n`)
    yield latin1(headerOf(change, was, is, from, path))
    if (was.tooLarge || is.tooLarge) yield latin1(`Binary files a/${from} and b/${path} differ\n`)
    else
      yield await textWorker.run({
        type: 'patch',
        before: { path: from, bytes: was.inode && was.bytes },
        after: { path, bytes: is.inode && is.bytes },
      })
  }
}

function headerOf(
  change: PathChange,
  was: Content,
  is: Content,
  from: string,
  path: string,
): string {
  if (!was.inode) return `new file mode ${gitMode(is.inode!)}\n`
  if (!is.inode) return `deleted file mode ${gitMode(was.inode)}\n`
  const [before, after] = [gitMode(was.inode), gitMode(is.inode)]
  const mode = before === after ? '' : `old mode ${before}\nnew mode ${after}\n`
  if (change.kind !== 'renamed') return mode
  return `${mode}rename from ${quotePath(from)}\nrename to ${quotePath(path)}\n`
}

function gitMode({ kind, mode }: Inode): string {
  if (kind === 'symlink') return '120000'
  return (mode & 0o100) === 0 ? '100644' : '100755'
}

interface Content {
  /** Undefined where there is nothing. */
  readonly inode: Inode | undefined
  readonly bytes: Uint8Array
  /** For lines; its bytes are not read. */
  readonly tooLarge: boolean
}

/** Only what can be read as lines is read, one file after the other. */
async function* readDiff(
  workspace: Branches,
  ends: DiffEnds,
  changes: Iterable<PathChange>,
  renamed: RenamedDirectories,
): AsyncGenerator<{ change: PathChange; was: Content; is: Content }> {
  const { nodes, blobs } = workspace.stores
  const views = [new TreeView(nodes, ends.before), new TreeView(nodes, ends.after)] as const
  const read = async (view: View, path: readonly Name[] | undefined): Promise<Content> => {
    const found = path && (await nodes.read(() => find(view, path)))
    if (!found) return { inode: undefined, bytes: new Uint8Array(), tooLarge: false }
    const { ino, inode } = found
    if (inode.kind === 'symlink') return { inode, bytes: inode.target!, tooLarge: false }
    const tooLarge = inode.size > textMergeBytesMax
    if (tooLarge || inode.kind !== 'file') return { inode, bytes: new Uint8Array(), tooLarge }
    return { inode, bytes: await readFile(nodes, blobs, view, ino, inode), tooLarge }
  }
  for (const change of changes) {
    if (nodes.pacer.isDue()) await nodes.pacer.rest()
    const { kind, path, from } = change
    const former = kind === 'deleted' ? path : (from ?? renamed.formerPath(path))
    const was = await read(views[0], kind === 'added' ? undefined : former)
    const is = await read(views[1], kind === 'deleted' ? undefined : path)
    yield { change, was, is }
  }
}

function find(view: View, path: readonly Name[]): { ino: Ino; inode: Inode } | undefined {
  const { dentry } = resolvePath(view, `/${path.join('/')}`, { who: superuser, follow: false })
  return dentry && { ino: dentry.ino, inode: view.inode(dentry.ino)! }
}
