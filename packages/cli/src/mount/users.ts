import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

const namedMax = 5

/** Programs that have something open in a mount, or stand in it: `bash (pid 17)`. Other users' are not seen. */
export function findUsers(mountPoint: string): string[] {
  const isIn = (path: string): boolean => path === mountPoint || path.startsWith(`${mountPoint}/`)
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => openPaths(pid).some(isIn))
    .slice(0, namedMax)
    .map(describe)
}

/**
 * Programs in other mount namespaces that still have the mount, though it is unmounted here. A namespace begins with a
 * copy of all mounts, and keeps it until its last program ends, whether or not it looks at it.
 */
export function findOtherNamespaces(connection: number): string[] {
  const isIts = new RegExp(`^\\d+ \\d+ 0:${connection} `, 'm')
  return list('/proc')
    .filter((name) => /^\d+$/.test(name))
    .filter((pid) => isIts.test(tryRead(`/proc/${pid}/mountinfo`) ?? ''))
    .slice(0, namedMax)
    .map(describe)
}

function describe(pid: string): string {
  return `${tryRead(`/proc/${pid}/comm`) ?? 'a program'} (pid ${pid})`
}

function openPaths(pid: string): string[] {
  const fds = list(`/proc/${pid}/fd`).map((fd) => `fd/${fd}`)
  return ['cwd', 'root', 'exe', ...fds].flatMap((link) => {
    try {
      return [readlinkSync(`/proc/${pid}/${link}`)]
    } catch {
      return []
    }
  })
}

function list(directory: string): string[] {
  try {
    return readdirSync(directory)
  } catch {
    // It has ended, or belongs to another user.
    return []
  }
}

function tryRead(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return undefined
  }
}
