import { type CollectReport, isCairnError } from '@cairn/protocol'
import type { Storage } from '../storage/open.ts'
import type { Clock } from '../ports/clock.ts'
import type { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'
import {
  Collector,
  type CollectorOptions,
  type ObserveCollecting,
  type RunOptions,
} from './collector.ts'
import { type KeepTimes, renewEveryMs } from '../workspaces/keep-times.ts'

export interface CollectingParts {
  readonly storage: Storage
  readonly workspaces: WorkspaceKeeper
  readonly clock: Clock
  readonly keep: KeepTimes
  readonly observe: ObserveCollecting
  readonly forget: CollectorOptions['forget']
  /** Drops what this machine keeps beside the stores and no longer needs. */
  readonly tidy: () => Promise<void>
  /** Hears why a run failed; the next one begins anew. */
  readonly onFailure: (error: unknown) => void
}

const reserveAfterMs = 60_000

/** Thrown into a run that has to end. */
const stopped = Symbol('stopped')

/**
 * Collects garbage beside the writers of this server and of others: now and then, and on request.
 */
export class Collecting {
  readonly #parts: CollectingParts
  readonly #collector: Collector
  #running: Promise<unknown> = Promise.resolve()
  #isStopped = false
  #stop: (() => void) | undefined

  constructor(parts: CollectingParts) {
    const { storage, clock, keep, observe, forget } = parts
    this.#parts = parts
    let lastMs = clock.nowMs()
    this.#collector = new Collector(storage, {
      nowMs: () => clock.nowMs(),
      ...keep,
      observe,
      forget,
      // Pauses for about as long as it worked, so that writers are not behind it in a queue for long.
      step: async () => {
        if (this.#isStopped) throw stopped
        await clock.sleep(Math.min(100, clock.nowMs() - lastMs))
        lastMs = clock.nowMs()
      },
    })
  }

  start(): void {
    void this.#keepCollecting()
    void this.#takeReserve()
  }

  /** One run after the other. */
  run(options: RunOptions): Promise<CollectReport> {
    const run = this.#running.then(() => this.#collector.run(options))
    this.#running = run.catch(() => undefined)
    return run
  }

  /** Ends a run between two steps; what it did so far stands. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stop?.()
    await this.#running
  }

  async #keepCollecting(): Promise<void> {
    const { clock, keep, workspaces, storage } = this.#parts
    const stopping = new Promise<void>((resolve) => (this.#stop = resolve))
    for (;;) {
      await Promise.race([clock.sleep(renewEveryMs(keep)), stopping])
      if (this.#isStopped) return
      await this.#attempt(() => workspaces.renew())
      await this.#attempt(() => this.run({ dryRun: false }))
      await this.#attempt(() => this.#parts.tidy())
      await this.#attempt(() => storage.leases.removeBlobNotes(clock.nowMs() - keep.graceMs))
    }
  }

  /** Not at once: it would write much while the server starts. */
  async #takeReserve(): Promise<void> {
    const { clock, storage } = this.#parts
    await clock.sleep(reserveAfterMs)
    if (!this.#isStopped) await this.#attempt(async () => storage.reserve?.take())
  }

  async #attempt(work: () => Promise<unknown>): Promise<void> {
    try {
      await work()
    } catch (error) {
      // A branch that another server took away meanwhile; the next run will not meet it.
      if (error !== stopped && !isCairnError(error, 'branch_missing')) this.#parts.onFailure(error)
    }
  }
}
