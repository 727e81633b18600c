import type { MachineSettings } from '../envd/machine.ts'

/** Rules for what a sandbox may reach and who may reach it, as E2B spells them. */
export interface NetworkRules {
  readonly allowOut?: readonly string[]
  readonly denyOut?: readonly string[]
  readonly allowPublicTraffic?: boolean
  readonly maskRequestHost?: string
}

export interface VolumeMount {
  readonly name: string
  readonly path: string
}

export interface Lifecycle {
  readonly onTimeout: 'kill' | 'pause'
  /** Whether a pause at the timeout keeps the processes. */
  readonly keepMemory: boolean
  readonly autoResume: boolean
}

/** Everything about a sandbox that outlives the server. */
export interface SandboxRecord {
  readonly id: string
  readonly templateId: string
  readonly alias: string | undefined
  readonly settings: MachineSettings
  readonly startCommand: string | undefined
  /** Succeeds when what the start command started can be used. */
  readonly readyCommand: string | undefined
  readonly metadata: Readonly<Record<string, string>>
  readonly accessToken: string
  readonly trafficToken: string | undefined
  readonly lifecycle: Lifecycle
  readonly volumeMounts: readonly VolumeMount[]
  readonly cpuCount: number
  readonly memoryMB: number
  network: NetworkRules
  allowInternetAccess: boolean | undefined
  startedAt: number
  endAt: number
  state: 'running' | 'paused'
  /** What it was started from; undefined is the host's own system. */
  disk: string | undefined
  /** Whether that disk is its own, and goes with it, or a template's. */
  ownsDisk: boolean
  /** What it was when it was paused. */
  pausedDisk: string | undefined
  /** Paused without its processes: it goes on only when it is asked for, never by itself. */
  isColdPause: boolean
}
