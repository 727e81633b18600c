import { randomUUID } from 'node:crypto'
import { MastraSandbox, type ProviderStatus } from '@mastra/core/workspace'
import type { Sandbox } from '@cairn/sandbox'
import { hostUrl } from '../exec/host-url.ts'
import { CairnProcesses } from './processes.ts'

/**
 * A sandbox for agents of Mastra. With a `CairnFilesystem` on the same layer, the tools for files and those for commands
 * work on the same files.
 *
 * @example
 * ```ts
 * const sandbox = new CairnSandbox(new LocalSandbox({ workspace }))
 * const workspace = new Workspace({ filesystem, sandbox })
 * ```
 */
export class CairnSandbox extends MastraSandbox {
  readonly id: string = `cairn-${randomUUID()}`
  readonly name = 'CairnSandbox'
  readonly provider = 'cairn'
  status: ProviderStatus = 'pending'
  override readonly networking: { getPortUrl: (port: number) => Promise<string> }
  readonly #machine: Sandbox

  constructor(machine: Sandbox) {
    super({
      name: 'CairnSandbox',
      processes: new CairnProcesses(machine),
      workingDirectory: machine.workDir,
    })
    this.#machine = machine
    this.networking = { getPortUrl: async (port) => hostUrl(machine, port) }
  }

  override getInstructions(): string {
    return `Commands start in ${this.#machine.workDir}, which is the root of the workspace. What is written there outlives the machine.`
  }

  override async start(): Promise<void> {
    if ((await this.#machine.status()).state === 'paused') await this.#machine.resume()
    else await this.#machine.init()
  }

  /** Once everything written to the workspace is at the server. */
  override async stop(): Promise<void> {
    await this.#machine.pause()
  }

  /** Once everything written to the workspace is at the server, which keeps it. */
  override async destroy(): Promise<void> {
    await this.#machine.dispose()
  }
}
