import { Worker } from 'node:worker_threads'
import type { SiteMount } from '../mount/fixture.ts'
import type { Op } from './history.ts'

/** A program in a mount. It has a thread of its own: one that waits in a mount keeps no other waiting. */
export class MountClient {
  readonly mount: SiteMount
  readonly #root: string
  #thread: Worker
  #onAnswer: ((answer: string) => void) | undefined

  /** `root` is what the mount shows, as operations spell it. */
  constructor(mount: SiteMount, root: string) {
    this.mount = mount
    this.#root = root
    this.#thread = this.#start()
  }

  /** One at a time. */
  take(op: Op): Promise<string> {
    return new Promise((resolve) => {
      this.#onAnswer = resolve
      this.#thread.postMessage(op)
    })
  }

  /** The program ends, and another one begins: its descriptors are closed. */
  async restart(): Promise<void> {
    await this.end()
    this.#thread = this.#start()
  }

  async end(): Promise<void> {
    await this.#thread.terminate()
  }

  #start(): Worker {
    const workerData = { directory: this.mount.directory, root: this.#root }
    const thread = new Worker(new URL('mount-thread.ts', import.meta.url), { workerData })
    thread.on('message', (answer: string) => this.#onAnswer?.(answer))
    return thread
  }
}
