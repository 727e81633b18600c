import type { Bases } from '../../bases/bases.ts'
import type { Jail, JailOptions } from '../../jail/jail.ts'
import type { SandboxLogs } from '../logs/sandbox-logs.ts'
import type { RecordStore } from '../store.ts'
import type { Disks } from './disks.ts'
import type { SandboxRecord, VolumeMount } from './record.ts'

/** What sandboxes are made of and kept in. */
export interface Host {
  readonly makeJail: (options: JailOptions) => Promise<Jail>
  /** Where the jails' own disks are. */
  readonly jails: string
  readonly disks: Disks
  readonly bases: Bases
  /** What is said of a sandbox's disk. */
  readonly diskSizeMB: number
  readonly records: RecordStore<SandboxRecord>
  readonly logs: SandboxLogs
  /** Resolves when the volume is mounted and was seen to be. It ends with the jail. */
  mountVolume(jail: Jail, mount: VolumeMount): Promise<void>
  /** Resolves when everything written to the jail's volumes is at their server. */
  drainVolumes(jail: Jail): Promise<void>
  /** After the end of the jail: resolves when its volumes could be mounted in the next. */
  settleVolumes(jail: Jail): Promise<void>
}
