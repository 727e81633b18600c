import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { millis, type Row } from '../table.ts'

export const rounds = 5

let count = 0
/** A name that was not used before. */
export function next(name: string): string {
  return `${name}${++count}`
}

/** Runs work several times and gives the best: a busy machine makes single runs meaningless. */
export async function best(work: () => Promise<unknown>): Promise<number> {
  const times: number[] = []
  for (let round = 0; round < rounds; round++) {
    const begin = performance.now()
    await work()
    times.push(performance.now() - begin)
  }
  return Math.min(...times)
}

export function row(work: string, alone: number, ms: number, most: number): Row {
  const ratio = ms / alone
  const figures = [millis(alone), millis(ms), `${ratio.toFixed(2)} ×`]
  return { work, figures, aim: `≤ ${most} ×`, met: ratio <= most }
}

export interface Latencies {
  readonly times: readonly number[]
  /** What the machine itself did to a loop meanwhile. */
  readonly stallMs: number
}

export type Part = 'p50' | 'p99' | 'mean'

/** The mean, or what the given part of the times does not exceed, in the best of the runs. */
export function latency(
  work: string,
  runs: readonly Latencies[],
  { part, mostMs }: { part: Part; mostMs: number },
): Row {
  const measured = runs.map(({ times, stallMs }) => ({ ms: percentile(times, part), stallMs }))
  const { ms, stallMs } = measured.toSorted((a, b) => a.ms - b.ms)[0]!
  const figures = ['', millis(ms), '', millis(stallMs)]
  return { work: `${work}, ${part}`, figures, aim: `≤ ${mostMs} ms`, met: ms <= mostMs }
}

export function percentile(times: readonly number[], part: Part): number {
  if (part === 'mean') return times.reduce((sum, ms) => sum + ms, 0) / times.length
  const sorted = times.toSorted((a, b) => a - b)
  return sorted[Math.floor(sorted.length * (part === 'p50' ? 0.5 : 0.99))]!
}

/** A loop with nothing to do, beside what is measured. */
class IdleLoop {
  readonly #thread: Worker

  constructor() {
    this.#thread = new Worker(new URL('../idle-loop.ts', import.meta.url))
  }

  /** Measures each run with the stalls during it. */
  async beside(run: () => Promise<readonly number[]>): Promise<Latencies> {
    await this.#take()
    const times = await run()
    return { times, stallMs: await this.#take() }
  }

  async #take(): Promise<number> {
    this.#thread.postMessage('take')
    const [stallMs] = (await once(this.#thread, 'message')) as [number]
    return stallMs
  }

  async end(): Promise<void> {
    await this.#thread.terminate()
  }
}

/** The best of these is what counts. */
export async function besideIdleLoop(
  run: () => Promise<readonly number[]>,
): Promise<readonly Latencies[]> {
  const loop = new IdleLoop()
  try {
    const runs: Latencies[] = []
    for (let round = 0; round < rounds; round++) runs.push(await loop.beside(run))
    return runs
  } finally {
    await loop.end()
  }
}
