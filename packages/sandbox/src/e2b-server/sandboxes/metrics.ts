import type { Machine } from '../envd/machine.ts'

export interface Metric {
  readonly timestamp: string
  readonly timestampUnix: number
  readonly cpuCount: number
  readonly cpuUsedPct: number
  readonly memUsed: number
  readonly memTotal: number
  readonly memCache: number
  readonly diskUsed: number
  readonly diskTotal: number
}

const everyMs = 5000
/** An hour of them. */
const keptMax = 720

interface Size {
  readonly cpuCount: number
  readonly memoryMB: number
}

/** What a sandbox used, every few seconds while it runs and whenever it is asked for. */
export class SandboxMetrics {
  readonly #size: Size
  readonly #kept: Metric[] = []
  #machine: Machine | undefined
  #timer: NodeJS.Timeout | undefined
  #last: { readonly atMs: number; readonly cpuMicroseconds: number } | undefined

  constructor(size: Size) {
    this.#size = size
  }

  start(machine: Machine): void {
    this.stop()
    this.#machine = machine
    this.#timer = setInterval(() => void this.#sample().catch(() => {}), everyMs)
    this.#timer.unref()
  }

  stop(): void {
    clearInterval(this.#timer)
    this.#machine = undefined
    this.#last = undefined
  }

  /** In unix seconds, both included. */
  async read(start: number, end: number): Promise<Metric[]> {
    await this.#sample()
    return this.#kept.filter(({ timestampUnix }) => timestampUnix >= start && timestampUnix <= end)
  }

  async #sample(): Promise<void> {
    const machine = this.#machine
    if (machine === undefined) return
    const [usage, disk] = await Promise.all([machine.jail.usage(), machine.agents.disk()])
    const nowMs = Date.now()
    const { cpuCount, memoryMB } = this.#size
    this.#kept.push({
      timestamp: new Date(nowMs).toISOString(),
      timestampUnix: Math.floor(nowMs / 1000),
      cpuCount,
      cpuUsedPct: this.#cpuSince(nowMs, usage.cpuMicroseconds),
      memUsed: usage.memoryBytes,
      memTotal: memoryMB * 2 ** 20,
      memCache: usage.cacheBytes,
      diskUsed: usage.diskBytes,
      diskTotal: disk.total,
    })
    if (this.#kept.length > keptMax) this.#kept.shift()
  }

  #cpuSince(atMs: number, cpuMicroseconds: number): number {
    const last = this.#last
    this.#last = { atMs, cpuMicroseconds }
    if (last === undefined || atMs <= last.atMs) return 0
    const used = (cpuMicroseconds - last.cpuMicroseconds) / 1000 / (atMs - last.atMs)
    return Math.round(used * 10_000) / 100
  }
}
