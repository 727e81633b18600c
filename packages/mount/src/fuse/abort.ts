import { closeSync, constants, openSync, readFileSync, writeSync } from 'node:fs'
import { findOurMount } from './mount-table.ts'
import { loadFuseIo } from './native.ts'

const controlDirectory = '/sys/fs/fuse/connections'

/** The kernel's number of a connection. Older kernels tell it only in the table of mounts. */
export function connectionOf(fd: number, mountPoint: string): number | undefined {
  const told = readFileSync(`/proc/self/fdinfo/${fd}`, 'latin1')
  const [, number] = /^fuse_connection:\s*(\d+)/m.exec(told) ?? []
  return number === undefined ? findOurMount(mountPoint)?.connection : Number(number)
}

/**
 * Opens the file that ends a FUSE connection when something is written to it. Its user may do so where fusectl is mounted,
 * root everywhere. The descriptor stays bound to this connection, also after the kernel uses its number again. Undefined
 * where this process may not.
 */
export async function openAbortFile(connection: number): Promise<number | undefined> {
  try {
    return openSync(`${controlDirectory}/${connection}/abort`, constants.O_WRONLY)
  } catch {
    const fd = (await loadFuseIo()).openAbort(connection)
    return fd < 0 ? undefined : fd
  }
}

/**
 * Ends a FUSE connection. Callers that wait for an answer get an error, also those that cannot be killed; so does
 * every later call. The mount stays in its place. False where this process may not.
 */
export async function abortConnection(connection: number): Promise<boolean> {
  const fd = await openAbortFile(connection)
  if (fd === undefined) return false
  writeSync(fd, '1')
  closeSync(fd)
  return true
}
