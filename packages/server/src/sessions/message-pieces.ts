import { CairnError, type Hash, messageBytesMax, type SessionRequest } from '@cairn/protocol'
import { sha256 } from '../ports/content-worker.ts'

type Piece = Extract<SessionRequest, { type: 'piece' }>

/** For all sessions together. What was added to longest ago is dropped; its client sends it again. */
const bytesMax = 32 << 20

interface Arriving {
  readonly message: Hash
  readonly total: number
  readonly pieces: readonly Uint8Array[]
  readonly bytes: number
}

/**
 * Messages that arrive in pieces: of each session the newest one. They outlive connections, so a message arrives in the
 * end although no connection carries all of it. They do not outlive this server, and no other server has them: the
 * answer to each piece says how much is here, and the client goes on from there.
 */
export class MessagePieces {
  /** By session, the one that was added to last at the end. */
  readonly #arriving = new Map<string, Arriving>()
  #bytes = 0

  /**
   * Gives how much of the message is here. Gives the message when this piece completes it, and when an empty piece asks
   * for it again: the connection over which it was answered may have been lost.
   */
  take(
    session: string,
    { message, total, offset, bytes }: Piece,
  ): { readonly bytes: number; readonly whole?: Uint8Array } {
    if (total > messageBytesMax || offset + bytes.length > total)
      throw malformed(`${offset + bytes.length} of ${total} bytes`)
    const before = this.#find(session, message, total)
    // A copy: what it is a part of may be much larger.
    const fresh = offset <= before.bytes ? bytes.slice(before.bytes - offset) : none
    const now = before.bytes + fresh.length
    const isWhole = now === total && (fresh.length > 0 || bytes.length === 0)
    const pieces = fresh.length > 0 ? [...before.pieces, fresh] : before.pieces
    const whole = isWhole ? Buffer.concat(pieces) : undefined
    this.#forget(session)
    if (whole && sha256(whole) !== message) throw malformed('another hash')
    this.#keep(session, { message, total, pieces: whole ? [whole] : pieces, bytes: now })
    return whole ? { bytes: now, whole } : { bytes: now }
  }

  #find(session: string, message: Hash, total: number): Arriving {
    const known = this.#arriving.get(session)
    if (known?.message === message && known.total === total) return known
    return { message, total, pieces: [], bytes: 0 }
  }

  #keep(session: string, arriving: Arriving): void {
    this.#arriving.set(session, arriving)
    this.#bytes += arriving.bytes
    for (const oldest of this.#arriving.keys()) {
      if (this.#bytes <= bytesMax) return
      this.#forget(oldest)
    }
  }

  #forget(session: string): void {
    this.#bytes -= this.#arriving.get(session)?.bytes ?? 0
    this.#arriving.delete(session)
  }
}

const none = new Uint8Array()

function malformed(reason: string): CairnError {
  return new CairnError('malformed', { what: 'take a piece of a message', reason })
}
