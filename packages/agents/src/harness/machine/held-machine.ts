import type { Sandbox } from '@cairn/sandbox'

/** A sandbox as the harness holds it: its workspace is mounted and was verified. */
export interface HeldMachine {
  readonly sandbox: Sandbox
  /** By which its provider finds it again. */
  readonly externalId: string
  /** Ends it, once what was written is at the server. Rejects, and leaves it, where that cannot be reached. */
  kill(): Promise<void>
  /** From now on it lives so long without a call. Nothing where the harness itself watches over it. */
  extend(ms: number): Promise<void>
}

/** Makes and finds the machines of one provider. */
export interface MachineProvider {
  readonly name: string
  /** Resolves when a command could run. Rejects, and leaves nothing behind, where the workspace cannot be mounted. */
  create(): Promise<HeldMachine>
  /** Resumes it, and mounts its workspace again where it is not. Undefined: there is no such machine any more. */
  connect(externalId: string): Promise<HeldMachine | undefined>
  /** The machine if it runs, and pausing it is not the provider's own task. */
  findAwake(externalId: string): Promise<HeldMachine | undefined>
  /** Forgets what it has in memory; machines that stay go on. */
  close(): Promise<void>
}
