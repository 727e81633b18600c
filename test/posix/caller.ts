import { isMainThread } from 'node:worker_threads'
import { O_DIRECTORY, O_PATH } from './constants.ts'
import { lastErrno, libc } from './libc.ts'
import type { Credentials } from './subject.ts'

/** A failed system call. */
class SyscallError extends Error {
  readonly code: string

  constructor(call: string, code: string) {
    super(`${call}: ${code}`)
    this.code = code
  }
}

type Syscall = keyof typeof libc

/**
 * Makes system calls in a directory of the host, under a umask and as a given user.
 *
 * Working directory, umask and credentials are set before each call and restored right after it,
 * all without giving up the thread, so no other code ever runs under them. The first two belong to
 * the whole process, so no other thread may depend on them: tests that ask the host run in a
 * process of their own, which is how vitest runs them unless told to use threads.
 */
export class Caller {
  readonly home: Credentials
  umask = 0o022
  #umaskBefore = 0
  readonly #directory: number
  readonly #workingDirectory: number

  constructor(directory: string) {
    if (!isMainThread) {
      throw new Error('cannot ask the host from a worker thread: run these tests in vitest forks')
    }
    this.home = {
      uid: process.geteuid?.() ?? 0,
      gid: process.getegid?.() ?? 0,
      groups: process.getgroups?.() ?? [],
    }
    this.#directory = openDirectory(directory)
    this.#workingDirectory = openDirectory('.')
  }

  /** The call's result, which is never -1. */
  call(who: Credentials, name: Syscall, invoke: () => number): number {
    let result: number
    let code: string
    try {
      this.#enter(who)
      result = invoke()
      code = result === -1 ? lastErrno() : ''
    } finally {
      this.#leave(who)
    }
    // Only here: code that makes stack traces may read files, and must not do so as another user.
    if (code !== '') throw new SyscallError(name, code)
    return result
  }

  dispose(): void {
    libc.close(this.#directory)
    libc.close(this.#workingDirectory)
  }

  #enter(who: Credentials): void {
    must('fchdir', libc.fchdir(this.#directory))
    this.#umaskBefore = libc.umask(this.umask)
    if (who !== this.home) become(who)
  }

  #leave(who: Credentials): void {
    if (who !== this.home) become(this.home)
    libc.umask(this.#umaskBefore)
    must('fchdir', libc.fchdir(this.#workingDirectory))
  }
}

function openDirectory(path: string): number {
  return must('open', libc.open(Buffer.from(`${path}\0`), O_PATH | O_DIRECTORY, 0))
}

/** Root's privileges over files go as the file system uid leaves 0, and come back with it. */
function become({ uid, gid, groups }: Credentials): void {
  must('setgroups', libc.setgroups(groups))
  libc.setfsgid(gid)
  libc.setfsuid(uid)
  // These two report no failure; given an impossible id they change nothing and tell the present
  // one.
  if (libc.setfsgid(-1) !== gid || libc.setfsuid(-1) !== uid) {
    throw new Error(`cannot act as uid ${uid}, gid ${gid}: only root can`)
  }
}

function must(name: Syscall, result: number): number {
  if (result === -1) throw new SyscallError(name, lastErrno())
  return result
}
