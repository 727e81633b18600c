import * as fs from 'node:fs'
import { constants } from 'node:os'
import { join } from 'node:path'
import { parentPort, workerData } from 'node:worker_threads'
import { libc } from '../posix/libc.ts'
import { describeNames, type Op } from './history.ts'

/** Does in a mount what it is asked for, one thing after the other, as a program would. */
const { directory, root } = workerData as { readonly directory: string; readonly root: string }
let held: number | undefined

parentPort!.on('message', (op: Op) => parentPort!.postMessage(take(op)))

function take(op: Op): string {
  try {
    return doIt(op) ?? 'ok'
  } catch (error) {
    const { errno, code } = error as NodeJS.ErrnoException
    // Node has no name for it.
    return errno === -constants.errno.ESTALE ? 'ESTALE' : (code ?? String(error))
  }
}

/** Paths are the workspace's; a mount of a layer shows only a part of it. */
function placeOf(path: string): string {
  return join(directory, path.slice(root.length))
}

function doIt(op: Op): string | undefined | void {
  const [path, other] = [placeOf(op.path), placeOf(op.other)]
  const { text, offset } = op
  switch (op.type) {
    case 'write':
      return fs.writeFileSync(path, text)
    case 'append':
      return fs.appendFileSync(path, text)
    case 'exclusive':
      return fs.writeFileSync(path, text, { flag: 'wx' })
    case 'patch':
      return withOpen(path, 'r+', (fd) => void fs.writeSync(fd, text, offset))
    case 'truncate':
      return withOpen(path, 'r+', (fd) => fs.ftruncateSync(fd, offset))
    case 'unlink':
      return fs.unlinkSync(path)
    case 'save':
      fs.writeFileSync(`${path}.${op.client}~`, text)
      return fs.renameSync(`${path}.${op.client}~`, path)
    case 'copy':
      return copy(path, other)
    case 'rename':
    case 'renameDirectory':
      return fs.renameSync(path, other)
    case 'link':
      return fs.linkSync(path, other)
    case 'mkdir':
      return fs.mkdirSync(path)
    case 'rmdir':
      return fs.rmdirSync(path)
    case 'list':
      return describeNames(fs.readdirSync(path))
    case 'read':
      return withOpen(path, 'r', read)
    case 'hold':
    case 'letGo':
    case 'appendHeld':
    case 'readHeld':
      return takeHeld(op, path)
    case 'commit':
    case 'rebase':
    case 'rollback':
    case 'renew':
      throw new Error(`no program in a mount does ${op.type}`)
  }
}

/** With a descriptor that stays open. */
function takeHeld({ type, text }: Op, path: string): string | undefined {
  if (type === 'hold') {
    const next = fs.openSync(path, 'a+')
    if (held !== undefined) fs.closeSync(held)
    held = next
    return undefined
  }
  if (type === 'letGo') {
    if (held !== undefined) fs.closeSync(held)
    held = undefined
    return undefined
  }
  if (held === undefined) return 'EBADF'
  if (type === 'readHeld') return read(held)
  fs.writeSync(held, text)
  return undefined
}

function withOpen<T>(path: string, flags: string, use: (fd: number) => T): T {
  const fd = fs.openSync(path, flags)
  try {
    return use(fd)
  } finally {
    fs.closeSync(fd)
  }
}

/** What `fstat` says beside it must be so. */
function read(fd: number): string {
  const { size } = fs.fstatSync(fd)
  const bytes = Buffer.alloc(size + 100)
  const text = bytes.toString('latin1', 0, fs.readSync(fd, bytes, 0, bytes.length, 0))
  return text.length === size ? `text ${text}` : `size ${size}, text ${text}`
}

/**
 * By `copy_file_range`, from one call to the next until nothing is left. As `cp` does, it asks for the size first:
 * without that the kernel ends at the one it knew (see `test/mount/questions/clients.ts`).
 */
function copy(path: string, other: string): void {
  withOpen(path, 'r', (from) =>
    withOpen(other, 'w', (to) => {
      fs.fstatSync(from)
      for (let copied = 1; copied > 0;)
        copied = libc.copyFileRange(from, null, to, null, 1 << 20, 0)
    }),
  )
}
