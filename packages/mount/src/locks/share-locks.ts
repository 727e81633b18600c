import type { MountedFileSystem } from '../filesystem/mounted-file-system.ts'
import type { KernelNodes } from '../kernel/nodes.ts'
import type { SessionClient } from '../session/client.ts'
import { SharedLocks } from './shared-locks.ts'

interface LockParts {
  readonly session: Pick<SessionClient, 'ask' | 'isConnected'>
  readonly whenCurrent: (seq: number) => Promise<void>
  readonly note: (message: string) => void
  readonly sleep: (ms: number) => Promise<void>
}

/** Has a file system ask the server for locks, so that they hold between mounts. */
export function shareLocks(
  fileSystem: MountedFileSystem,
  nodes: KernelNodes,
  { session, ...rest }: LockParts,
): SharedLocks {
  const locks = new SharedLocks({
    ...rest,
    ask: (question, signal) => session.ask(question, signal),
    isConnected: () => session.isConnected,
  })
  fileSystem.getlk = (nodeid, lock) => locks.getlk(nodes.inoOf(nodeid), lock)
  fileSystem.setlk = (nodeid, ...how) => locks.setlk(nodes.inoOf(nodeid), ...how)
  return locks
}
