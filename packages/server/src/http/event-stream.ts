import { once } from 'node:events'
import type { ServerResponse } from 'node:http'
import type { FastifyReply } from 'fastify'

const keepAliveMs = 15_000

/** Waits for a reader that is slower than what is told: what it has not taken would pile up here. */
export async function send(
  to: ServerResponse,
  text: string,
  { signal }: { readonly signal: AbortSignal },
): Promise<void> {
  if (to.write(text) || signal.aborted) return
  await once(to, 'drain', { signal }).catch(() => undefined)
}

/** Lets one waiter sleep until `ring` is called or the signal ends it. */
export class Bell {
  #wake: (() => void) | undefined
  readonly #signal: AbortSignal

  constructor(signal: AbortSignal) {
    this.#signal = signal
    signal.addEventListener('abort', () => this.ring(), { once: true })
  }

  ring(): void {
    this.#wake?.()
  }

  async wait(rung: () => boolean): Promise<void> {
    if (rung() || this.#signal.aborted) return
    await new Promise<void>((resolve) => (this.#wake = resolve))
    this.#wake = undefined
  }
}

/** Sends texts as they come, until they end or the reader goes. `first` is sent at once. */
export async function sendEvents(
  reply: FastifyReply,
  first: string,
  textsOf: (signal: AbortSignal) => AsyncIterable<string>,
): Promise<void> {
  void reply.hijack()
  const { raw } = reply
  raw.writeHead(200, { 'content-type': 'text/event-stream', 'cache-control': 'no-store' })
  const closed = new AbortController()
  raw.on('close', () => closed.abort())
  raw.write(first)
  const keepAlive = setInterval(() => raw.write(': still here\n\n'), keepAliveMs)
  try {
    for await (const text of textsOf(closed.signal)) await send(raw, text, closed)
  } finally {
    clearInterval(keepAlive)
    raw.end()
  }
}
