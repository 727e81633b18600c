import type { Jail } from '../../jail/jail.ts'
import { Agents } from '../agent/agents.ts'
import { type Process, Processes } from './processes.ts'
import { Watchers } from './watchers.ts'

/**
 * The variables that the template and the creator of the sandbox set for everything that runs in
 * it.
 */
export interface MachineSettings {
  readonly env: Readonly<Record<string, string>>
  readonly user: string
  /** Undefined: the user's home. */
  readonly workDir: string | undefined
}

/** A jail that runs, and what envd knows of it. Ends with the jail. */
export class Machine {
  readonly jail: Jail
  readonly settings: MachineSettings
  readonly agents: Agents
  readonly processes: Processes
  readonly watchers: Watchers

  /** `onProcess` is called before a process begins to print. */
  constructor(jail: Jail, settings: MachineSettings, onProcess?: (process: Process) => void) {
    this.jail = jail
    this.settings = settings
    this.agents = new Agents(jail)
    this.processes = new Processes(jail, onProcess)
    this.watchers = new Watchers(jail)
  }
}
