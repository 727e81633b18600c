import { Dispatcher, type DispatchOptions, parked } from './dispatch.ts'
import { errno } from './errno.ts'
import type { FuseFileSystem } from './file-system.ts'
import { canResend, type InitInfo } from './init.ts'
import { type Channel, type FuseIo, loadFuseIo } from './native.ts'
import { Wakefulness } from './wakefulness.ts'

/** How many requests are answered before timers and sockets have their turn. */
const burst = 256
const notifyResend = 7

export interface ServeFuseOptions extends DispatchOptions {
  /** How long to look for the next request before the event loop is asked: saves a wake-up per request. */
  readonly spinMicroseconds?: number
}

/** Answers the kernel on a mounted descriptor until it is unmounted, or `stop`. */
export class FuseServer {
  /** Settles when nothing is answered any more. */
  readonly closed: Promise<void>
  readonly #io: FuseIo
  readonly #dispatcher: Dispatcher
  readonly #onError: ServeFuseOptions['onError']
  readonly #channel: Channel
  readonly #wakefulness = new Wakefulness()
  #isOpen = true
  #settleClosed!: () => void

  constructor(
    io: FuseIo,
    fd: number,
    fs: FuseFileSystem | Promise<FuseFileSystem>,
    options: ServeFuseOptions,
  ) {
    this.#io = io
    this.#onError = options.onError
    this.closed = new Promise((resolve) => (this.#settleClosed = resolve))
    this.#dispatcher = new Dispatcher(fs, options, (length, payload) => this.#send(length, payload))
    const { request, reply } = this.#dispatcher
    const spin = options.spinMicroseconds ?? 100
    const channel = io.open(fd, request.bytes, reply.bytes, spin, () => this.#drain())
    if (typeof channel === 'number')
      throw new Error(`cannot watch descriptor ${fd} of the mount: errno ${-channel}`)
    this.#channel = channel
    if (options.resumed !== undefined) this.#resume(options.resumed)
  }

  get parkedCount(): number {
    return this.#dispatcher.parkedCount
  }

  /** Has another file system answer from the next request on. */
  use(fs: FuseFileSystem): void {
    this.#dispatcher.context.fs = fs
  }

  /** Stops answering. The mount stays: another process with the descriptor can go on. */
  stop(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#io.close(this.#channel)
    this.#wakefulness.end()
    this.#dispatcher.close()
    this.#settleClosed()
  }

  #drain(): void {
    this.#wakefulness.note(burst - this.#answerBurst())
  }

  /** Gives how many more it would have answered. */
  #answerBurst(): number {
    const io = this.#io
    const channel = this.#channel
    const dispatcher = this.#dispatcher
    let length = io.recv(channel)
    // The event loop calls again if more are waiting after a burst.
    let left = burst
    for (; length > 0; left--) {
      const replyLength = dispatcher.handle(length)
      // Its answer may be there already, but comes by a promise: back to the loop at once, without the spin.
      if (replyLength === parked || !this.#isOpen) return left - 1
      if (left === 1) {
        this.#send(replyLength, dispatcher.reply.payload)
        return 0
      }
      if (replyLength > 0 && dispatcher.reply.payload !== undefined) {
        this.#send(replyLength, dispatcher.reply.payload)
        length = io.recv(channel)
      } else {
        length = io.sendRecv(channel, replyLength)
      }
    }
    if (length !== -errno.EAGAIN) this.#end(-length)
    return left
  }

  /** ENODEV: unmounted. Nothing else is expected, and nothing more can be read after it. */
  #end(reason: number): void {
    if (reason !== errno.ENODEV)
      this.#onError?.(new Error(`cannot read from the mount: errno ${reason}`), 'READ DEVICE')
    this.stop()
    this.#dispatcher.end()
  }

  /** What becomes of it does not matter: ENOENT says that the request was answered before. */
  #send(length: number, payload: Uint8Array | undefined): void {
    if (length === 0 || !this.#isOpen) return
    if (payload === undefined) this.#io.send(this.#channel, this.#dispatcher.reply.bytes, length)
    else this.#io.sendv(this.#channel, length, payload, 0, payload.length)
  }

  /** The requests that the process before us had read and not answered: asked again, or over where no kernel does so. */
  #resume(info: InitInfo): void {
    if (!canResend(info)) return this.#dispatcher.refuseLeft()
    const { reply } = this.#dispatcher
    const length = reply.fail(0, 0, -notifyResend)
    this.#io.send(this.#channel, reply.bytes, length)
  }
}

/** With a file system that is not there yet, the kernel is heard, and those who ask it something wait. */
export async function serveFuse(
  fd: number,
  fs: FuseFileSystem | Promise<FuseFileSystem>,
  options: ServeFuseOptions = {},
): Promise<FuseServer> {
  return new FuseServer(await loadFuseIo(), fd, fs, options)
}
