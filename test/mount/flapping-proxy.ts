import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A way to a server that breaks. In a thread of its own: a test that waits in a mount must not hold it up. */
export class FlappingProxy {
  readonly url: string
  readonly #thread: Worker

  private constructor(thread: Worker, url: string) {
    this.#thread = thread
    this.url = url
  }

  static async start(server: string): Promise<FlappingProxy> {
    const thread = new Worker(new URL('proxy-thread.ts', import.meta.url), { workerData: server })
    const [url] = (await once(thread, 'message')) as [string]
    return new FlappingProxy(thread, url)
  }

  /** From now on connections are cut, so often and whenever they have carried much. */
  begin(everyMs: number): void {
    this.#thread.postMessage(everyMs)
  }

  end(): void {
    this.#thread.postMessage(0)
  }

  /** How many connections were cut. */
  async cuts(): Promise<number> {
    const answer = once(this.#thread, 'message') as Promise<[number]>
    this.#thread.postMessage('count')
    return (await answer)[0]
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}
