import type { Machine } from '../envd/machine.ts'
import { ApiError, notFound } from '../api-error.ts'
import { bootMachine } from './boot.ts'
import { egressOf } from './egress.ts'
import type { Host } from './host.ts'
import { SandboxMetrics } from './metrics.ts'
import type { NetworkRules, SandboxRecord } from './record.ts'

/** How long a sandbox lives that woke up for a request. */
const wakeLifetimeMs = 300_000

/** Something that can be cut off: a socket with a request on its way. */
export interface Cuttable {
  destroy(): unknown
}

/** One sandbox, from its first boot to its end. What changes it happens one after the other. */
export class HostedSandbox {
  readonly record: SandboxRecord
  readonly metrics: SandboxMetrics
  readonly #host: Host
  readonly #inFlight = new Set<Cuttable>()
  readonly #onEnd: (sandbox: HostedSandbox) => void
  #machine: Machine | undefined
  #timer: NodeJS.Timeout | undefined
  #last: Promise<unknown> = Promise.resolve()
  #isEnded = false

  constructor(record: SandboxRecord, host: Host, onEnd: (sandbox: HostedSandbox) => void) {
    this.record = record
    this.metrics = new SandboxMetrics(record)
    this.#host = host
    this.#onEnd = onEnd
  }

  get isEnded(): boolean {
    return this.#isEnded
  }

  get diskSizeMB(): number {
    return this.#host.diskSizeMB
  }

  start(): Promise<void> {
    return this.#serial(async () => {
      try {
        await this.#boot()
      } catch (error) {
        await this.#end()
        throw error
      }
      await this.#save()
      await this.#log(`sandbox started from the template ${this.record.templateId}`)
      this.#arm()
    })
  }

  /**
   * The machine for a request from outside. A sandbox that may wake up does; otherwise 502, as if
   * nothing listened.
   */
  async machine(): Promise<Machine> {
    // One that pauses just now can wake up as soon as it has paused.
    await this.#last.catch(() => {})
    const { state, lifecycle, isColdPause, id } = this.record
    if (this.#isEnded) throw new ApiError(502, `the sandbox ${id} has ended`)
    if (state === 'paused' && lifecycle.autoResume && !isColdPause)
      await this.resume(wakeLifetimeMs, true)
    await this.#last.catch(() => {})
    if (this.#machine === undefined || this.record.state === 'paused')
      throw new ApiError(502, `the sandbox ${id} is ${this.#isEnded ? 'gone' : 'paused'}`)
    return this.#machine
  }

  /** True if it was paused. With `memory` its processes go on, where it was paused with them. */
  resume(lifetimeMs: number, memory: boolean): Promise<boolean> {
    return this.#serial(async () => {
      const wasPaused = this.record.state === 'paused'
      const endAt = Date.now() + lifetimeMs
      if (!wasPaused) {
        this.record.endAt = Math.max(this.record.endAt, endAt)
      } else {
        if (memory && this.#machine !== undefined) await this.#thaw(this.#machine)
        else await this.#bootAgain()
        Object.assign(this.record, { state: 'running', endAt, isColdPause: false })
        await this.#log('sandbox resumed')
      }
      await this.#save()
      this.#arm()
      return wasPaused
    })
  }

  pause(memory: boolean): Promise<void> {
    return this.#serial(() => this.#pause(memory))
  }

  kill(): Promise<void> {
    return this.#queue(() => this.#end())
  }

  setLifetime(lifetimeMs: number): Promise<void> {
    return this.#serial(async () => {
      this.record.endAt = Date.now() + lifetimeMs
      await this.#save()
      this.#arm()
    })
  }

  setNetwork(network: NetworkRules, allowInternetAccess: boolean | undefined): Promise<void> {
    return this.#serial(async () => {
      const { allowPublicTraffic, maskRequestHost } = this.record.network
      const kept = {
        ...(allowPublicTraffic === undefined ? {} : { allowPublicTraffic }),
        ...(maskRequestHost === undefined ? {} : { maskRequestHost }),
      }
      this.record.network = { ...kept, ...network }
      this.record.allowInternetAccess = allowInternetAccess
      await this.#machine?.jail.setEgress(egressOf(this.record))
      await this.#save()
    })
  }

  /** A copy of its disk, under a new name. */
  snapshot(options: { readonly durable: boolean }): Promise<string> {
    return this.#serial(async () => {
      if (this.#machine === undefined || this.record.state === 'paused')
        throw new ApiError(409, `the sandbox ${this.record.id} is paused; resume it first`)
      return this.#host.disks.take(this.#machine.jail, options)
    })
  }

  /** While the request lasts, it is cut off when the sandbox ends or pauses. Gives what ends that. */
  track(request: Cuttable): () => void {
    this.#inFlight.add(request)
    return () => void this.#inFlight.delete(request)
  }

  /** For the end of the server: paused ones, and those that pause at their timeout, can be resumed by the next. */
  retire(): Promise<void> {
    return this.#queue(async () => {
      if (this.#isEnded) return
      const { state, lifecycle } = this.record
      if (state === 'running' && lifecycle.onTimeout === 'pause') await this.#pause(false)
      if (this.record.state === 'running') await this.#end()
      else await this.#stopMachine()
    })
  }

  async #pause(memory: boolean): Promise<void> {
    const machine = this.#machine
    if (machine === undefined || this.record.state === 'paused')
      throw new ApiError(409, `the sandbox ${this.record.id} is paused already`)
    await this.#host.drainVolumes(machine.jail)
    this.#cutOff()
    this.record.pausedDisk = await this.#host.disks.take(machine.jail, { durable: true })
    this.record.state = 'paused'
    this.record.isColdPause = !memory
    clearTimeout(this.#timer)
    this.metrics.stop()
    if (memory) await machine.jail.freeze()
    else await this.#stopMachine()
    await this.#save()
    await this.#log(memory ? 'sandbox paused' : 'sandbox paused without its processes')
    // DURABLE: disk and record are on this machine's disk; the server may end now, however it ends.
  }

  async #thaw(machine: Machine): Promise<void> {
    await machine.jail.thaw()
    this.metrics.start(machine)
    const { pausedDisk } = this.record
    this.record.pausedDisk = undefined
    await this.#host.disks.remove(pausedDisk)
  }

  /** From the disk as it was when paused, with no process of before. */
  async #bootAgain(): Promise<void> {
    await this.#stopMachine()
    const { disk, ownsDisk, pausedDisk } = this.record
    this.record.disk = pausedDisk
    try {
      await this.#boot()
    } catch (error) {
      this.record.disk = disk
      throw error
    }
    this.record.ownsDisk = true
    this.record.pausedDisk = undefined
    if (ownsDisk) await this.#host.disks.remove(disk)
  }

  async #boot(): Promise<void> {
    const { disk } = this.record
    this.#host.disks.hold(disk)
    try {
      const machine = await bootMachine(this.record, this.#host)
      this.#machine = machine
      this.metrics.start(machine)
      const onEnd = async (): Promise<void> => {
        await this.#host.disks.release(disk)
        if (this.#machine === machine) await this.kill()
      }
      // What could not be removed now is removed when the next server starts.
      machine.jail.ended.then(onEnd).catch(() => undefined)
    } catch (error) {
      await this.#host.disks.release(disk)
      throw error
    }
  }

  async #stopMachine(): Promise<void> {
    const machine = this.#machine
    this.#machine = undefined
    this.metrics.stop()
    if (machine === undefined) return
    // Programs end first. What they wrote to volumes is brought to the server after them.
    await machine.jail.kill()
    await this.#host.settleVolumes(machine.jail)
  }

  async #end(): Promise<void> {
    if (this.#isEnded) return
    this.#isEnded = true
    clearTimeout(this.#timer)
    this.#cutOff()
    // Before it is gone: a client that follows the log reads it once more then.
    await this.#log('sandbox ended')
    this.#onEnd(this)
    await this.#stopMachine()
    const { disk, ownsDisk, pausedDisk, id } = this.record
    await this.#host.records.delete(id)
    if (ownsDisk) await this.#host.disks.remove(disk)
    await this.#host.disks.remove(pausedDisk)
    await this.#host.logs.close(id)
  }

  #log(message: string): Promise<void> {
    return this.#host.logs.of(this.record.id).add(message, { logger: 'sandbox' })
  }

  #cutOff(): void {
    for (const request of this.#inFlight) request.destroy()
    this.#inFlight.clear()
  }

  #arm(): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(
      () => void this.#expire().catch(() => {}),
      Math.max(0, this.record.endAt - Date.now()),
    )
    this.#timer.unref()
  }

  #expire(): Promise<void> {
    return this.#serial(async () => {
      const { state, endAt, lifecycle } = this.record
      if (state === 'paused') return
      if (Date.now() < endAt) this.#arm()
      else if (lifecycle.onTimeout === 'kill') await this.#end()
      else await this.#pause(lifecycle.keepMemory)
    })
  }

  async #save(): Promise<void> {
    if (!this.#isEnded) await this.#host.records.put(this.record.id, this.record)
  }

  /** One change after the other; of one that has ended, none. */
  #serial<Result>(change: () => Promise<Result>): Promise<Result> {
    return this.#queue(async () => {
      if (this.#isEnded) throw notFound(`the sandbox ${this.record.id} was`)
      return change()
    })
  }

  #queue<Result>(change: () => Promise<Result>): Promise<Result> {
    const now = this.#last.catch(() => {}).then(change)
    this.#last = now
    return now
  }
}
