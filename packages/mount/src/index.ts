export { decodeGrant, decodeHeldLocks, decodeLockAnswer } from './locks/answers.ts'
export {
  decodeAheadAnswer,
  decodeBlobAnswer,
  decodeChangesAnswer,
  decodeContentAnswer,
  decodeDirectoryAnswer,
  decodeInodeAnswer,
  decodeInodesAnswer,
  decodeSubtreeAnswer,
} from './session/answers.ts'
export { SessionClient } from './session/client.ts'
export type { Reservation, SessionEvents, SessionOptions } from './session/options.ts'
export { connectWebSocket } from './session/websocket-wire.ts'
export type { Connect, Wire, WireEvents } from './session/wire.ts'
export {
  askControl,
  type DaemonCommand,
  findLeftBehind,
  isRunning,
  markProcess,
  memoryBudget,
  type MountConfig,
  type MountState,
  type MountStatus,
  readState,
  Supervisor,
} from './beside.ts'
export type { Mounter } from './fuse/mounting.ts'
export { daemonMain } from './process/daemon.ts'
export { SharingClient, sharingHandlers, type SharingClientParts } from './sync/sharing.ts'
export type { VaultSource } from './vault/vault-file-system.ts'
