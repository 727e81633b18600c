export * from './session/answers.ts'
export * from './session/client.ts'
export type * from './session/options.ts'
export * from './session/websocket-wire.ts'
export type * from './session/wire.ts'
export { askControl, type ControlReply } from './process/control.ts'
export type { MountConfig } from './process/config.ts'
export { daemonMain } from './process/daemon.ts'
export {
  type DaemonCommand,
  Supervisor,
  supervisorMain,
  type SupervisorReport,
} from './process/supervisor.ts'
export { durabilityNames } from './sync/durability.ts'
