import { O_CREAT, O_EXCL, O_RDONLY, O_RDWR, O_WRONLY } from './constants.ts'
import type { Credentials, Path, Stat, Subject } from './subject.ts'

/** Two people with nothing in common, and the group that a question may put either in. */
export const ANN: Credentials = { uid: 1001, gid: 1001, groups: [] }
export const BOB: Credentials = { uid: 1002, gid: 1002, groups: [] }
export const TEAM = 2000
export const ANN_IN_TEAM: Credentials = { ...ANN, groups: [TEAM] }

/** A descriptor number that no question ever opens. */
export const NO_DESCRIPTOR = 1_000_000

/** Long before any question is asked, so that a time which moves is seen to move. */
export const LONG_AGO = 1_000_000_000_000_000_000n

/** `'ok'`, or the name of the errno. Anything else that goes wrong is not an observation. */
export async function outcome(call: () => Promise<unknown>): Promise<string> {
  try {
    await call()
    return 'ok'
  } catch (error) {
    if (error instanceof Error && 'code' in error && typeof error.code === 'string') {
      return error.code
    }
    throw error
  }
}

/** The outcome of the same call on each of several things, one after the other. */
export async function outcomes<T>(
  things: readonly T[],
  call: (thing: T) => Promise<unknown>,
): Promise<readonly string[]> {
  const all: string[] = []
  for (const thing of things) all.push(await outcome(() => call(thing)))
  return all
}

/** Bytes that are the code points of `text`, so that any byte can be written as text. */
export function bytes(text: string): Uint8Array {
  return Buffer.from(text, 'latin1')
}

/** The inverse of `bytes`. */
export function text(content: Uint8Array): string {
  return Buffer.from(content).toString('latin1')
}

/** A new file with content, whose mode is exactly `mode`. */
export async function create(fs: Subject, path: Path, content = '', mode = 0o644): Promise<void> {
  const fd = await fs.open(path, O_WRONLY | O_CREAT | O_EXCL, mode)
  await fs.write(fd, bytes(content))
  await fs.fchmod(fd, mode)
  await fs.close(fd)
}

/** A new file, open for reading and writing at offset 0. */
export async function createOpen(fs: Subject, path: Path, content = ''): Promise<number> {
  await create(fs, path, content)
  return fs.open(path, O_RDWR)
}

/** A new directory whose mode is exactly `mode`. */
export async function directory(fs: Subject, path: Path, mode = 0o755): Promise<void> {
  await fs.mkdir(path)
  await fs.chmod(path, mode)
}

/** A new file of a given user, set-id bits included: giving a file away would have cleared them. */
export async function createFor(
  fs: Subject,
  { uid, gid }: Credentials,
  path: Path,
  mode = 0o644,
): Promise<void> {
  await create(fs, path, 'content', mode)
  await fs.chown(path, uid, gid)
  await fs.chmod(path, mode)
}

/** A new directory of a given user. */
export async function directoryFor(
  fs: Subject,
  { uid, gid }: Credentials,
  path: Path,
  mode = 0o755,
): Promise<void> {
  await directory(fs, path, mode)
  await fs.chown(path, uid, gid)
}

export async function content(fs: Subject, path: Path): Promise<string> {
  const fd = await fs.open(path, O_RDONLY)
  const { size } = await fs.fstat(fd)
  // One more than the size, so that a file longer than it claims is found out.
  const all = text(await fs.read(fd, size + 1))
  await fs.close(fd)
  return all
}

/** Names without `.` and `..`, sorted. */
export async function names(fs: Subject, path: Path): Promise<readonly string[]> {
  const entries = await fs.readdir(path)
  return entries
    .map((entry) => text(entry.name))
    .filter((name) => name !== '.' && name !== '..')
    .toSorted()
}

/** What an open directory has left to list, `.` and `..` included, in the order it came. */
export async function listRest(
  fs: Subject,
  fd: number,
  bufferBytes = 4096,
): Promise<readonly string[]> {
  const all: string[] = []
  for (;;) {
    const entries = await fs.getdents(fd, bufferBytes)
    if (entries.length === 0) return all
    all.push(...entries.map((entry) => text(entry.name)))
  }
}

/** The permission bits in octal, four digits, of the symlink itself if it is one. */
export async function permissions(fs: Subject, path: Path): Promise<string> {
  return octal((await fs.lstat(path)).mode)
}

export function octal(mode: number): string {
  return mode.toString(8).padStart(4, '0')
}

export async function owner(fs: Subject, path: Path): Promise<string> {
  const { uid, gid } = await fs.lstat(path)
  return `${uid}:${gid}`
}

export async function sameFile(fs: Subject, one: Path, other: Path): Promise<boolean> {
  return (await fs.lstat(one)).ino === (await fs.lstat(other)).ino
}

/**
 * Which of mtime and ctime an operation moved: both, one, or `'nothing'`. `path` is a symlink
 * itself if it is one; `after` names the same file once the operation has renamed it.
 */
export async function moved(
  fs: Subject,
  path: Path,
  operation: () => Promise<unknown>,
  after: Path = path,
): Promise<string> {
  await fs.utimens(path, LONG_AGO, LONG_AGO, { followSymlinks: false })
  await fs.nextInstant()
  const old = await fs.lstat(path)
  await operation()
  return difference(old, await fs.lstat(after))
}

/** Like `moved`, for a file that may have no name left. */
export async function movedOpen(
  fs: Subject,
  fd: number,
  operation: () => Promise<unknown>,
): Promise<string> {
  await fs.futimens(fd, LONG_AGO, LONG_AGO)
  await fs.nextInstant()
  const old = await fs.fstat(fd)
  await operation()
  return difference(old, await fs.fstat(fd))
}

function difference(old: Stat, now: Stat): string {
  const changes = []
  if (now.mtimeNs > old.mtimeNs) changes.push('mtime')
  if (now.ctimeNs > old.ctimeNs) changes.push('ctime')
  return changes.length === 0 ? 'nothing' : changes.join(' and ')
}
