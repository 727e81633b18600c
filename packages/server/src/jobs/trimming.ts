import type { Clock } from '../ports/clock.ts'
import type { WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'

export interface TrimmingParts {
  readonly workspaces: WorkspaceKeeper
  readonly clock: Clock
  /** Hears why it failed; it is tried again. */
  readonly onFailure: (error: unknown) => void
}

/** Sessions that follow a branch are mostly nearer than this, and get the bytes with the batch. */
const everyMs = 10_000
const pauseMsMax = 100

/** Takes out of the logs of open branches what folds have stored, a while after they did. */
export class Trimming {
  readonly #parts: TrimmingParts
  #isStopped = false
  #stop: (() => void) | undefined
  #running: Promise<void> = Promise.resolve()

  constructor(parts: TrimmingParts) {
    this.#parts = parts
  }

  start(): void {
    this.#running = this.#keepTrimming()
  }

  /** Between two steps; what it did so far stands. */
  async stop(): Promise<void> {
    this.#isStopped = true
    this.#stop?.()
    await this.#running
  }

  async #keepTrimming(): Promise<void> {
    const { clock, workspaces, onFailure } = this.#parts
    const stopping = new Promise<void>((resolve) => (this.#stop = resolve))
    for (;;) {
      await Promise.race([clock.sleep(everyMs), stopping])
      if (this.#isStopped) return
      let lastMs = clock.nowMs()
      // Pauses for about as long as it worked: there is no hurry.
      const step = async (): Promise<void> => {
        await Promise.race([clock.sleep(Math.min(pauseMsMax, clock.nowMs() - lastMs)), stopping])
        if (this.#isStopped) throw stopped
        lastMs = clock.nowMs()
      }
      await workspaces.trim(step).catch((error: unknown) => {
        if (error !== stopped) onFailure(error)
      })
    }
  }
}

/** Thrown into a run that has to end. */
const stopped = Symbol('stopped')
