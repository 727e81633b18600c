/**
 * What a process beside a mount needs: to start it, to ask it, to see what it left. Nothing of what a daemon has to
 * load, which takes as long as Node does.
 */
export { parseProfile } from './classes/parse-profile.ts'
export { builtInProfiles, type Classify, compileProfile, type Profile } from './classes/profile.ts'
export { describeDirectories } from './describe-directories.ts'
export { unmount } from './fuse/mounting.ts'
export { abortConnection } from './fuse/abort.ts'
export { findOurMount } from './fuse/mount-table.ts'
export { findShippedFuseIo, loadFuseIo } from './fuse/native.ts'
export { memoryBudget } from './memory-budget.ts'
export type { MountStatus, OnlyHere } from './mount-status.ts'
export type { MountConfig } from './process/config.ts'
export { askControl } from './process/control.ts'
export { findDaemonLog } from './process/daemon-log.ts'
export { type DaemonCommand, DaemonProcess, startDaemon } from './process/daemon-process.ts'
export { handOver } from './process/hand-over.ts'
export { findLeftBehind } from './process/left-behind.ts'
export { findFusermount } from './fuse/find-fusermount.ts'
export { type KernelFeatures, probeKernel } from './process/probe-kernel.ts'
export {
  isRunning,
  markProcess,
  type MountState,
  type ProcessMark,
  readState,
  removeState,
} from './process/state.ts'
export { Supervisor } from './process/supervisor.ts'
