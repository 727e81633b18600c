import { randomBytes } from 'node:crypto'
import type { InstanceStore, JobRow } from '../instances/instance-store.ts'
import type { HarnessPlace } from '../config/placement.ts'
import type { ProviderConfig } from '../config/provider-config.ts'
import type { HeldMachine } from '../machine/held-machine.ts'
import type { ReservedMachine } from '../machine/reserved-machine.ts'
import { callbackPath, hashToken } from './callback.ts'
import {
  countScript,
  type JobPlace,
  launchScript,
  logScript,
  runningMax,
  statusScript,
  stopScript,
  tooManyCode,
} from './scripts.ts'

export interface JobsParts {
  readonly config: ProviderConfig
  readonly placement: HarnessPlace | undefined
  readonly key: string
  readonly reservation: ReservedMachine
  readonly store: InstanceStore
  /** Where machines reach `takeCallback`; without it the harness learns of an end when it asks. */
  readonly publicBaseUrl: string | undefined
}

export interface JobStatus {
  readonly id: string
  readonly status: 'running' | 'completed' | 'failed' | 'unknown'
  readonly exitCode?: number
  readonly error?: string
}

/** Unless it is asked again. E2B itself allows an hour and more. */
const watchedMs = 3_600_000
const lostCode = 137
const stopTimeoutMs = 30_000

/** Commands that go on in a reserved machine without a caller that waits. */
export class Jobs {
  readonly #parts: JobsParts
  readonly #directory: string

  constructor(parts: JobsParts) {
    this.#parts = parts
    const { options } = parts.config
    const name = encodeURIComponent(parts.key).replaceAll('.', '%2E')
    this.#directory = `${options.workspaceRoot.replace(/^\/$/, '')}/.fp-jobs/${name}`
  }

  /** Resolves when it runs. There is a row for it before. */
  async start(
    machine: HeldMachine,
    command: string,
    env: Readonly<Record<string, string>>,
  ): Promise<JobStatus> {
    const { store, key, publicBaseUrl, placement } = this.#parts
    const [id, token] = [
      randomBytes(9).toString('base64url'),
      randomBytes(24).toString('base64url'),
    ]
    const { sandbox, externalId } = machine
    const job: JobRow = {
      id,
      provider: sandbox.kind,
      reservationKey: key,
      externalId,
      status: 'running',
      tokenHash: hashToken(token),
      observed: false,
    }
    await store.addJob(job)
    const script = launchScript({
      ...this.#place(id),
      command,
      cwd: sandbox.workDir,
      keptLog:
        placement === undefined || placement.workspace.readOnly === true
          ? undefined
          : `${placement.workspace.mountPath}/.fp-jobs/${id}.log`,
      callback: publicBaseUrl === undefined ? undefined : callbackOf(publicBaseUrl, id, token),
    })
    const launched = await (await sandbox.start(script, { env })).wait()
    if (launched !== 0) {
      const why =
        launched === tooManyCode
          ? `${runningMax} run already. Stop one, or wait for one to end.`
          : `the launch ended with ${launched}. Try again.`
      await store.settleJob({ ...job, status: 'failed', error: why })
      throw new Error(`cannot start a background job: ${why}`)
    }
    await this.watchOver(machine)
    return { id, status: 'running' }
  }

  /** Settles its row when it has ended, however its callback fared. */
  async status(id: string): Promise<JobStatus> {
    const job = await this.#get(id)
    if (job.status !== 'running') return show(job)
    const machine = await this.#machineOf(job)
    if (machine === undefined)
      return this.#settle({
        ...job,
        status: 'failed',
        exitCode: lostCode,
        error: 'its machine has ended',
      })
    const said = (await ask(machine, statusScript(this.#place(id)))).trim()
    if (said === 'running' || said === 'unknown') return { id, status: said }
    const exitCode = said === 'dead' ? lostCode : Number(said.slice('exit '.length))
    const logs = await ask(machine, logScript(this.#place(id)))
    const error = exitCode === 0 ? {} : { error: `the command ended with ${exitCode}` }
    return this.#settle({
      ...job,
      status: exitCode === 0 ? 'completed' : 'failed',
      exitCode,
      logs,
      ...error,
    })
  }

  /** Its last 64 KiB, also while it runs. */
  async logs(id: string): Promise<string> {
    const job = await this.#get(id)
    const machine = job.status === 'running' ? await this.#machineOf(job) : undefined
    return machine === undefined ? (job.logs ?? '') : ask(machine, logScript(this.#place(id)))
  }

  /** Resolves when it has ended. */
  async stop(id: string): Promise<JobStatus> {
    const job = await this.#get(id)
    const machine = job.status === 'running' ? await this.#machineOf(job) : undefined
    if (machine !== undefined) await ask(machine, stopScript(this.#place(id)))
    return this.status(id)
  }

  /** The result of a job that has ended, for the first caller alone. */
  async observe(id: string): Promise<JobRow | undefined> {
    if ((await this.status(id)).status === 'running') return undefined
    return (await this.#parts.store.observeJob(id)) ? this.#get(id) : undefined
  }

  async isAnyRunning({ sandbox }: HeldMachine): Promise<boolean> {
    const { stdout } = await sandbox.exec(countScript(this.#directory))
    return Number(stdout) > 0
  }

  /** A machine in which a job runs is not stopped for being idle, even when this program has ended. */
  async watchOver(machine: HeldMachine): Promise<void> {
    if (machine.sandbox.kind !== 'e2b' || !(await this.isAnyRunning(machine))) return
    const leftMs = await this.#parts.reservation.leftMs()
    const idleMs = this.#parts.config.lifecycle.idleTimeoutSeconds * 1000
    await machine.extend(Math.max(1000, Math.min(leftMs, Math.max(watchedMs, idleMs))))
  }

  #place(id: string): JobPlace {
    return { directory: this.#directory, id }
  }

  async #get(id: string): Promise<JobRow> {
    const job = await this.#parts.store.findJob(id)
    if (job !== undefined && job.reservationKey === this.#parts.key) return job
    throw new Error(`cannot find job ${id}: there is none of that id. Use the id that bash gave.`)
  }

  async #machineOf({ externalId }: JobRow): Promise<HeldMachine | undefined> {
    const machine = await this.#parts.reservation.find()
    if (machine?.externalId !== externalId) return undefined
    await this.watchOver(machine)
    return machine
  }

  async #settle(job: JobRow): Promise<JobStatus> {
    await this.#parts.store.settleJob(job)
    return show(await this.#get(job.id))
  }
}

function callbackOf(base: string, id: string, token: string): { url: string; token: string } {
  return { url: `${base.replace(/\/+$/, '')}/${callbackPath(id)}`, token }
}

async function ask({ sandbox }: HeldMachine, script: string): Promise<string> {
  const { code, stdout, stderr } = await sandbox.exec(script, { timeoutMs: stopTimeoutMs })
  if (code !== 0) throw new Error(`cannot ask the sandbox for a job: ${stderr.trim()}`)
  return stdout
}

function show({ id, status, exitCode, error }: JobRow): JobStatus {
  return {
    id,
    status,
    ...(exitCode !== undefined && { exitCode }),
    ...(error !== undefined && { error }),
  }
}
