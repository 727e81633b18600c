import { createHash } from 'node:crypto'
import { encodeRequest, type Hash, type SessionReply, type SessionRequest } from '@cairn/protocol'
import { bytesMin, type Pace } from './pace.ts'
import type { Connect, Wire } from './wire.ts'

/** Bytes of operations or of content in a message; 0 in all others, which are small. */
export function bytesOf(request: SessionRequest): number {
  if ('body' in request) return request.body.length
  return request.type === 'blob' ? request.bytes.length : 0
}

/**
 * Sends messages in pieces that are larger than a connection lately carried. Without that, a batch that was sealed over
 * a good link would never arrive over a bad one: each connection would carry its beginning again.
 *
 * INVARIANT: while a message goes in pieces, no other with bytes is on its way, so none overtakes it. The pace lets a
 * message that is larger than its limit go alone, and raises the limit only with the answer.
 */
export function inPieces(connect: Connect, pace: Pace): Connect {
  return async (events) => {
    const onTheWay = new Map<Hash, Pieces>()
    const wire = await connect({
      onReply: (reply) => {
        if (reply.type === 'arrived') onTheWay.get(reply.message)?.arrived(reply)
        else events.onReply(reply)
      },
      onClose: () => events.onClose(),
    })
    return {
      ...wire,
      send: (request) => {
        if (bytesOf(request) <= pace.messageBytes) return wire.send(request)
        const pieces = new Pieces(encodeRequest(request), wire, pace)
        onTheWay.set(pieces.message, pieces)
        pieces.ask()
      },
    }
  }
}

/** One message, over one connection. */
class Pieces {
  readonly message: Hash
  readonly #bytes: Uint8Array
  readonly #wire: Wire
  readonly #pace: Pace
  /** How much the server has; undefined until it has said so. */
  #arrived: number | undefined
  /** How much of that came over this connection. */
  #gained = 0
  #sent = 0

  constructor(bytes: Uint8Array, wire: Wire, pace: Pace) {
    this.message = createHash('sha256').update(bytes).digest('binary') as Hash
    this.#bytes = bytes
    this.#wire = wire
    this.#pace = pace
  }

  /** Asks how much came over earlier connections. A server that has all of it takes the message again. */
  ask(): void {
    this.#send(0, 0)
  }

  arrived({ bytes }: Extract<SessionReply, { type: 'arrived' }>): void {
    const before = this.#arrived ?? Infinity
    // Less than before: the server has dropped it.
    if (bytes < before) this.#sent = bytes
    const gained = Math.max(0, bytes - before)
    this.#pace.progressed(gained)
    this.#gained += gained
    this.#arrived = bytes
    this.#sendUpTo(bytes + this.#pace.messageBytes + this.#gained)
  }

  #sendUpTo(bytes: number): void {
    const end = Math.min(this.#bytes.length, bytes)
    while (this.#sent < end) {
      const length = Math.min(bytesMin, this.#bytes.length - this.#sent)
      this.#send(this.#sent, length)
      this.#sent += length
    }
  }

  #send(offset: number, length: number): void {
    const bytes = this.#bytes.subarray(offset, offset + length)
    this.#wire.send({
      type: 'piece',
      message: this.message,
      total: this.#bytes.length,
      offset,
      bytes,
    })
  }
}
