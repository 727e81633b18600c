import type { Connect, WireEvents } from '@cairn/mount'
import {
  decodeReply,
  encodeReply,
  encodeRequest,
  type SessionReply,
  type SessionRequest,
} from '@cairn/protocol'
import type { ClientSocket, ServedConnection } from '@cairn/server'

interface Sent {
  readonly message: SessionRequest | SessionReply
  readonly arrive: () => void
}

/** One connection. */
interface Life {
  readonly isCurrent: () => boolean
  readonly end: () => void
  readonly done: (id: number) => void
}

/** They arrive together with the message before them: nothing depends on what happens in between. */
const attached = ['seen', 'receipt', 'renew']

/** The way between one client and the server. Each message arrives when that is chosen, in the order of its direction. */
export class Way {
  readonly toServer: Sent[] = []
  readonly toClient: Sent[] = []
  readonly #accept: (connection: ClientSocket) => ServedConnection
  readonly #onReply: (reply: SessionReply) => void
  readonly #lies: readonly SessionReply['type'][]
  #end: (() => void) | undefined

  /** `onReply` sees every reply before the session does. `lies`: the client never hears these, and says that it did. */
  constructor(
    accept: (connection: ClientSocket) => ServedConnection,
    onReply: (reply: SessionReply) => void,
    lies: readonly SessionReply['type'][],
  ) {
    this.#accept = accept
    this.#onReply = onReply
    this.#lies = lies
  }

  get isOpen(): boolean {
    return this.#end !== undefined
  }

  readonly connect: Connect = async (events) => {
    const end = (): void => this.#close(end, () => (served.onClose(), events.onClose()))
    const isCurrent = (): boolean => this.#end === end
    const done = (id: number): void =>
      void served.onMessage(encodeRequest({ type: 'done', request: id }))
    const served = this.#accept(this.#socket(events, { isCurrent, end, done }))
    this.#end = end
    return {
      send: (request) => {
        const bytes = encodeRequest(request)
        const arrive = (): void => void served.onMessage(bytes)
        if (isCurrent()) push(this.toServer, { message: request, arrive })
      },
      // Behind what was sent.
      close: () => isCurrent() && this.toServer.push({ message: { type: 'bye' }, arrive: end }),
      ping: () => new Promise(() => undefined),
    }
  }

  /** It breaks: what is on its way is lost, and both ends notice. */
  cut(): void {
    this.#end?.()
  }

  #socket(events: WireEvents, { isCurrent, end, done }: Life): ClientSocket {
    return {
      bufferedBytes: 0,
      close: end,
      send: (reply) => {
        const arrive = (): void => {
          this.#onReply(reply)
          events.onReply(decodeReply(encodeReply(reply)))
        }
        if (!isCurrent()) return
        if (!this.#lies.includes(reply.type)) push(this.toClient, { message: reply, arrive })
        else if ('id' in reply) done(reply.id)
      },
    }
  }

  #close(end: () => void, tell: () => void): void {
    if (this.#end !== end) return
    this.#end = undefined
    this.toServer.length = 0
    this.toClient.length = 0
    tell()
  }
}

function push(queue: Sent[], sent: Sent): void {
  if (!attached.includes(sent.message.type)) return void queue.push(sent)
  const before = queue.pop()
  if (!before) return sent.arrive()
  const arrive = (): void => {
    before.arrive()
    sent.arrive()
  }
  queue.push({ message: before.message, arrive })
}
