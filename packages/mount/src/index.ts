export { decodeGrant, decodeHeldLocks, decodeLockAnswer } from './locks/answers.ts'
export * from './session/answers.ts'
export * from './session/client.ts'
export type * from './session/options.ts'
export * from './session/websocket-wire.ts'
export type * from './session/wire.ts'
export { unmount } from './fuse/mounting.ts'
export { findShippedFuseIo, loadFuseIo } from './fuse/native.ts'
export { askControl, ControlRefusal, type ControlReply } from './process/control.ts'
export type { MountConfig } from './process/config.ts'
export { daemonMain } from './process/daemon.ts'
export { findLeftBehind, type LeftBehind } from './process/left-behind.ts'
export { type KernelFeatures, probeKernel } from './process/probe-kernel.ts'
export {
  isRunning,
  type MountState,
  type ProcessMark,
  readState,
  removeState,
} from './process/state.ts'
export {
  type DaemonCommand,
  Supervisor,
  supervisorMain,
  type SupervisorReport,
} from './process/supervisor.ts'
export type { MountStatus } from './mount.ts'
export { durabilityNames } from './sync/durability.ts'
export { vaultDaemonMain } from './vault/daemon.ts'
export type { VaultSource } from './vault/vault-file-system.ts'
