import { once } from 'node:events'
import { Worker } from 'node:worker_threads'

/** A way to a server that cuts each connection once it has carried so many bytes to the server. */
export class CuttingProxy {
  readonly url: string
  readonly #thread: Worker

  private constructor(thread: Worker, url: string) {
    this.#thread = thread
    this.url = url
  }

  static async start(server: string): Promise<CuttingProxy> {
    const thread = new Worker(new URL('cutting-proxy-thread.ts', import.meta.url), {
      workerData: server,
    })
    const [url] = (await once(thread, 'message')) as [string]
    return new CuttingProxy(thread, url)
  }

  /** 0 cuts each at once, Infinity none. Gives how many connections were cut so far. */
  async limit(bytes: number): Promise<number> {
    const answer = once(this.#thread, 'message') as Promise<[number]>
    this.#thread.postMessage(bytes)
    return (await answer)[0]
  }

  async close(): Promise<void> {
    await this.#thread.terminate()
  }
}
