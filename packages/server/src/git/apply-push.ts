import { type Branch, resolvePath, scopedView, type Steps, superuser, type View } from '@cairn/core'
import {
  ByteQueue,
  type ByteString,
  CairnError,
  isCairnError,
  isFsError,
  tarEnd,
  tarHeader,
  tarPaddingBytes,
} from '@cairn/protocol'
import { ArchiveRoom } from '../archive/archive-room.ts'
import { importArchive } from '../archive/import-archive.ts'
import { receiveArchive } from '../archive/receive-archive.ts'
import { endDraft } from '../files/end-draft.ts'
import type { TreeEdit } from '../files/tree-edit.ts'
import { remove } from '../files/trees.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import type { IncomingObjects } from './incoming-objects.ts'
import type { GitChange } from './tree-changes.ts'

const nothing = '000000'
const gitlink = '160000'
const readAtOnce = 200
/** As in the tree. */
const targetBytesMax = 4095

interface PushTarget {
  readonly workspace: OpenWorkspace
  /** The branch of a layer that no other client writes to yet. */
  readonly branch: Branch
  readonly asker: Asker
}

/** Makes the files of a branch those of a commit, where the commit changed them. */
export async function applyPush(
  target: PushTarget,
  objects: IncomingObjects,
  changes: readonly GitChange[],
): Promise<void> {
  const { workspace, branch, asker } = target
  const gone = changes.filter(({ mode }) => mode === nothing).map(({ path }) => `/${path}`)
  if (gone.length > 0)
    await workspace.paths.change(branch, asker, function* (edit): Steps<void> {
      for (const path of gone) yield* removeFile(edit, path)
    })
  const written = changes.filter(({ mode }) => mode !== nothing)
  if (written.length === 0) return
  const modes: number[] = []
  for (let at = 0; at < written.length; at += readAtOnce) {
    const some = written.slice(at, at + readAtOnce)
    const grant = asker.scope?.grant
    const seen = (view: View): View => (grant ? scopedView(view, grant) : view)
    modes.push(
      ...(await workspace.read(branch, (view) => some.map((one) => modeOf(seen(view), one)))),
    )
  }
  const draft = workspace.stores.blobs.draft(() => workspace.clock.nowMs())
  const room = new ArchiveRoom()
  const onContent = async (): Promise<void> => {}
  const onError = (cause: Error, { names }: { readonly names: readonly string[] }): Error =>
    new CairnError('invalid_argument', {
      what: 'take the push in',
      reason: `${names.join('/')} does not fit: ${cause.message}`,
      cause,
    })
  try {
    await endDraft(
      draft,
      () => receiveArchive(tarOf(objects, written, modes), draft.blobs, { onContent, room }),
      (entries) => importArchive(target, '/', entries, { keepTimes: false, onError }),
    )
  } finally {
    room.end()
  }
}

/** Directories are not in git: one that this leaves empty goes, too, as it does in a checkout. */
function* removeFile(edit: TreeEdit, path: ByteString): Steps<void> {
  try {
    yield* remove(edit, path, false)
  } catch (error) {
    // It is gone already.
    if (!isFsError(error) || error.code !== 'ENOENT') throw error
    return
  }
  try {
    for (let at = parentOf(path); at !== '/'; at = parentOf(at)) {
      const { dentry } = edit.resolve(at, false)
      if (dentry?.kind !== 'directory' || edit.view.inode(dentry.ino)!.size > 0) return
      yield* remove(edit, at, false)
    }
  } catch (error) {
    // A token that may not remove the directory leaves it.
    if (!isFsError(error) && !isCairnError(error, 'forbidden')) throw error
  }
}

function parentOf(path: ByteString): ByteString {
  return path.slice(0, path.lastIndexOf('/')) || '/'
}

/** Git knows of permissions only whether a file can be executed. Where that stays, all of them stay. */
function modeOf(view: View, { path, oldMode, mode }: GitChange): number {
  const usual = mode === '100755' ? 0o755 : 0o644
  if (mode !== oldMode) return usual
  try {
    const { dentry } = resolvePath(view, `/${path}`, { who: superuser, follow: false })
    return dentry?.kind === 'file' ? view.inode(dentry.ino)!.mode : usual
  } catch (error) {
    if (isFsError(error)) return usual
    throw error
  }
}

async function* tarOf(
  objects: IncomingObjects,
  changes: readonly GitChange[],
  modes: readonly number[],
): AsyncGenerator<Uint8Array> {
  const git = objects.start(['cat-file', '--batch', '--buffer'])
  git.stderr.resume()
  const blobs = changes.filter(({ mode }) => mode !== gitlink)
  git.stdin.end(blobs.map(({ oid }) => `${oid}\n`).join(''))
  const output = new ByteQueue(git.stdout)
  const mtimeNs = 0n
  try {
    for (const [at, { path, mode, oid }] of changes.entries()) {
      if (mode === gitlink) {
        yield tarHeader({ path, kind: 'directory', mode: 0o755, size: 0, mtimeNs })
        continue
      }
      const size = Number((await output.takeLine())?.split(' ')[2])
      if (!Number.isSafeInteger(size)) throw lacks(oid)
      if (mode === '120000') {
        if (size > targetBytesMax) throw tooLongTarget(path, size)
        const target = Buffer.from(await output.take(size)).toString('latin1')
        yield tarHeader({ path, kind: 'symlink', mode: 0o777, size: 0, mtimeNs, target })
      } else {
        yield tarHeader({ path, kind: 'file', mode: modes[at]!, size, mtimeNs })
        for (let left = size; left > 0;) {
          const bytes = await output.take(Math.min(left, 1 << 20))
          if (bytes.length === 0) throw lacks(oid)
          left -= bytes.length
          yield bytes
        }
        yield new Uint8Array(tarPaddingBytes(size))
      }
      await output.take(1)
    }
    yield tarEnd
  } finally {
    git.kill()
  }
}

function tooLongTarget(path: ByteString, size: number): CairnError {
  return new CairnError('invalid_argument', {
    what: 'take the push in',
    reason: `the target of the link ${path} has ${size} bytes, and at most ${targetBytesMax} are allowed`,
  })
}

function lacks(oid: string): CairnError {
  return new CairnError('malformed', {
    what: 'take the push in',
    reason: `it lacks the blob ${oid}`,
  })
}
