import { connectWebSocket } from '@cairn/mount'
import { sessionVersion } from '@cairn/protocol'
import type { Site } from '../mount/fixture.ts'

/** So many connections are opened at once. */
const openAtOnce = 50

/** A session that reads, and looks at nothing: a thousand share the machine with the server. */
export class CrowdReader {
  readonly close: () => void
  #arrived = Promise.withResolvers<number>()

  private constructor(close: () => void) {
    this.close = close
  }

  static async openAll(site: Site, count: number): Promise<CrowdReader[]> {
    const readers: CrowdReader[] = []
    while (readers.length < count) {
      const left = Math.min(openAtOnce, count - readers.length)
      const opened = Array.from({ length: left }, () => CrowdReader.#open(site))
      readers.push(...(await Promise.all(opened)))
    }
    return readers
  }

  static async #open(site: Site): Promise<CrowdReader> {
    const welcomed = Promise.withResolvers<void>()
    const wire = await connectWebSocket(
      site.url,
      site.key,
    )({
      onReply: ({ type }) => {
        if (type === 'welcome') welcomed.resolve()
        if (type === 'batch') reader.#arrived.resolve(performance.now())
      },
      onClose: () => undefined,
    })
    const reader = new CrowdReader(() => wire.close())
    wire.send({
      type: 'hello',
      version: sessionVersion,
      workspace: 'demo',
      branch: 'main',
      mode: 'read',
      session: '',
      seq: Number.MAX_SAFE_INTEGER,
      path: '',
    })
    await welcomed.promise
    return reader
  }

  /** The next batch is waited for. */
  expect(): void {
    this.#arrived = Promise.withResolvers<number>()
  }

  /** How long after that moment the batch came. */
  async arrival(sinceMs: number): Promise<number> {
    return (await this.#arrived.promise) - sinceMs
  }
}
