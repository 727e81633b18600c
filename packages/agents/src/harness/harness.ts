import { Cairn } from '@cairn/sdk'
import { findCredential } from '@cairn/sandbox'
import type { NamedProvider } from './config/parse-provider.ts'
import { type HarnessWorkspace, type HarnessPlace, reservationKeyOf } from './config/placement.ts'
import type { ProviderConfig, Runtime } from './config/provider-config.ts'
import type { InstanceStore } from './instances/instance-store.ts'
import { takeCallback } from './jobs/callback.ts'
import { Jobs, type JobStatus } from './jobs/jobs.ts'
import { E2BMachines, type E2BPlace } from './machine/e2b-machines.ts'
import { LocalMachines, type LocalPlace } from './machine/local-machines.ts'
import type { HeldMachine, MachineProvider } from './machine/held-machine.ts'
import { inspect, type Preflight } from './machine/preflight.ts'
import { prepare } from './machine/prepare.ts'
import { ReservedMachine } from './machine/reserved-machine.ts'
import { lookBetween, use } from './machine/turns.ts'
import { runBounded } from '../exec/run-bounded.ts'
import { commandOf } from './run-command.ts'
import { type HarnessTool, harnessTools } from './tools/harness-tools.ts'

export interface HarnessOptions extends NamedProvider {
  readonly workspace?: HarnessWorkspace
  /** Where reservations and jobs are kept; needed with `persistent`. */
  readonly store?: InstanceStore
  /** Where machines reach `handleCallback` of this harness. */
  readonly publicBaseUrl?: string
  readonly e2b?: E2BPlace
  readonly local?: LocalPlace
  readonly now?: () => number
}

export interface RunRequest {
  readonly code: string
  /** Default: bash. */
  readonly runtime?: Runtime
  readonly envVars?: Readonly<Record<string, string>>
  /** Default: `timeout` of the configuration. */
  readonly timeoutSeconds?: number
  readonly signal?: AbortSignal | undefined
}

/** A command that failed is a result, too. */
export interface RunResult {
  readonly ok: boolean
  readonly provider: string
  readonly runtime: Runtime
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
  readonly durationMs: number
  readonly timedOut: boolean
  readonly truncated: boolean
}

const lookMs = 15_000

/** A sandbox for an agent as a stored configuration describes it; `openHarness` makes one. */
export class Harness {
  readonly config: ProviderConfig
  /** Undefined for a sandbox that lasts for one call. */
  readonly jobs: Jobs | undefined
  readonly #options: HarnessOptions
  readonly #placement: HarnessPlace | undefined
  readonly #provider: MachineProvider
  readonly #reservation: ReservedMachine | undefined
  readonly #timer: NodeJS.Timeout | undefined

  constructor(
    options: HarnessOptions,
    config: ProviderConfig,
    placement: HarnessPlace | undefined,
  ) {
    this.config = config
    this.#options = options
    this.#placement = placement
    const key = reservationKeyOf(config, placement)
    const { store, publicBaseUrl, now = Date.now } = options
    this.#provider = makeProvider(options, config, placement)
    if (key === undefined) return
    if (store === undefined)
      throw new Error(
        'cannot keep a persistent sandbox: there is no store to find it by. Pass store: await openSqliteInstances(FILE).',
      )
    const parts = { key, config, placement, store, provider: this.#provider, now }
    this.#reservation = new ReservedMachine(parts)
    this.jobs = new Jobs({ ...parts, reservation: this.#reservation, publicBaseUrl })
    this.#timer = setInterval(() => void this.lookAfter().catch(() => undefined), lookMs).unref()
  }

  /** Where the workspace is in the machine; undefined without one. */
  get mountPath(): string | undefined {
    return this.#placement?.workspace.mountPath
  }

  /** What the model gets. */
  tools(): readonly HarnessTool[] {
    return harnessTools(this, this.#placement && this.#site(this.#placement))
  }

  /** Runs code to its end. What it wrote to the workspace is at the server when this resolves. */
  async run(request: RunRequest): Promise<RunResult> {
    const { runtime = 'bash', timeoutSeconds = this.config.timeout, envVars, signal } = request
    const command = commandOf(request.code, runtime, this.config)
    return this.#withMachine(async ({ sandbox }) => {
      const start = performance.now()
      const result = await runBounded(sandbox, command, {
        env: { ...this.config.envVars, ...envVars },
        timeoutMs: timeoutSeconds * 1000,
        bytesMax: this.config.outputLimitBytes,
        signal,
      })
      if (this.#placement?.workspace.readOnly !== true) await sandbox.flush()
      const durationMs = Math.round(performance.now() - start)
      const ok = result.exitCode === 0 && !result.timedOut
      return { ok, provider: this.config.provider, runtime, durationMs, ...result }
    })
  }

  /** Starts code and leaves it running. Its id is for `jobs`. */
  async startJob({ code, runtime = 'bash', envVars }: RunRequest): Promise<JobStatus> {
    const { jobs } = this
    if (jobs === undefined)
      throw new Error(
        'cannot run in the background: the sandbox lasts for one call. Set persistent to true, or run it in the foreground.',
      )
    const command = commandOf(code, runtime, this.config)
    return this.#withMachine((machine) =>
      jobs.start(machine, command, { ...this.config.envVars, ...envVars }),
    )
  }

  /** For the server at `publicBaseUrl`: takes what jobs send when they end. */
  handleCallback(request: Request): Promise<Response> {
    const { store } = this.#options
    if (store === undefined) return Promise.resolve(new Response(null, { status: 404 }))
    return takeCallback(store, request)
  }

  /** What the machine has of what may be needed, asked in one without a workspace. */
  async preflight(): Promise<Preflight> {
    const provider = makeProvider(this.#options, { ...this.config, persistent: false }, undefined)
    const machine = await provider.create()
    try {
      return await inspect(machine.sandbox)
    } finally {
      await machine.kill()
    }
  }

  /** Ends a reserved machine whose time is over, and pauses an idle one. Called every 15 s by itself. */
  async lookAfter(): Promise<void> {
    const reservation = this.#reservation
    if (reservation === undefined) return
    await lookBetween(reservation.id, () =>
      reservation.lookAfter((machine) => this.jobs!.isAnyRunning(machine)),
    )
  }

  /** Ends the reserved machine, once what was written is at the server. False when there was none. */
  async release(): Promise<boolean> {
    return (await this.#reservation?.end()) ?? false
  }

  /** Leaves a reserved machine to the next harness. */
  async close(): Promise<void> {
    clearInterval(this.#timer)
    await this.#provider.close()
  }

  async #withMachine<Result>(work: (machine: HeldMachine) => Promise<Result>): Promise<Result> {
    const reservation = this.#reservation
    if (reservation === undefined) return this.#withNewMachine(work)
    return use(reservation.id, async () => {
      const machine = await reservation.acquire()
      await prepare(machine.sandbox, this.config)
      await this.jobs!.watchOver(machine)
      return work(machine)
    })
  }

  async #withNewMachine<Result>(work: (machine: HeldMachine) => Promise<Result>): Promise<Result> {
    const machine = await this.#provider.create()
    try {
      return await work(machine)
    } finally {
      await machine.kill()
    }
  }

  #site({ workspace }: HarnessPlace): Parameters<typeof harnessTools>[1] {
    const { server, key } = findCredential(workspace)
    return {
      openCairn: (toolCall) => new Cairn({ server, apiKey: key, toolCall }),
      workspace: workspace.name,
      layer: workspace.layer,
      isReadOnly: workspace.readOnly ?? false,
    }
  }
}

function makeProvider(
  options: HarnessOptions,
  config: ProviderConfig,
  placement: HarnessPlace | undefined,
): MachineProvider {
  if (config.provider === 'local') return new LocalMachines(config, placement, options.local ?? {})
  const { e2b = {}, publicBaseUrl } = options
  const needed = placement ? [e2b.serverInside ?? findCredential(placement.workspace).server] : []
  if (publicBaseUrl !== undefined) needed.push(publicBaseUrl)
  return new E2BMachines(config, placement, e2b, needed)
}
