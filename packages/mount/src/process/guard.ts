import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { connectionOf, openAbortFile } from '../fuse/abort.ts'
import { loadFuseIo } from '../fuse/native.ts'
import { socketPair } from './daemon-process.ts'

/** Waits until the other end of its input is closed, then aborts the connection. A shell has nothing to load. */
const script = 'read -r _; echo 1 >&3'

/**
 * Starts a small process that ends the FUSE connection as soon as no process holds the descriptor this gives. After
 * `kill -9` of supervisor and daemon, a thread of the daemon that tells the kernel what changed may wait in the kernel,
 * keep /dev/fuse open, and so keep every program in the mount waiting for ever. Ending the connection lets all of
 * them go. After an unmount it has no effect.
 *
 * Undefined where this user may not end a connection: without root and without a mounted fusectl.
 */
export async function startGuard(device: number, mountPoint: string): Promise<number | undefined> {
  const connection = connectionOf(device, mountPoint)
  const abort = connection === undefined ? undefined : await openAbortFile(connection)
  if (abort === undefined) return undefined
  const [ours, theirs] = socketPair(await loadFuseIo())
  const child = spawn('/bin/sh', ['-c', script], {
    stdio: [theirs, 'ignore', 'ignore', abort],
    cwd: '/',
    detached: true,
  })
  // Without a shell there is no guard, and the mount works all the same.
  child.once('error', () => undefined)
  child.unref()
  for (const fd of [theirs, abort]) closeSync(fd)
  return ours
}
