import { CairnError, type Hash, messageBytesMax, type SessionRequest } from '@cairn/protocol'
import { sha256 } from '../ports/content-worker.ts'

type Piece = Extract<SessionRequest, { type: 'piece' }>

/** For all sessions together. Where it is too little, the owner with the most gives way; its client sends again. */
const bytesMax = 32 << 20
/** A whole message is given again to so many connections. Each asks with a few bytes, and has all of it handled. */
const repeatsMax = 16
const firstBytes = 4096

/** Whose a message is. Clients choose ids of sessions, so an id alone could be another owner's. */
export interface PieceSender {
  readonly owner: string
  readonly session: string
}

interface Arriving {
  readonly owner: string
  readonly message: Hash
  readonly total: number
  /** Grows as they arrive. One array for each piece would take a hundred times the bytes of small ones. */
  readonly room: Uint8Array
  readonly bytes: number
  readonly repeats: number
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
    { owner, session }: PieceSender,
    { message, total, offset, bytes }: Piece,
  ): { readonly bytes: number; readonly whole?: Uint8Array } {
    if (total > messageBytesMax || offset + bytes.length > total)
      throw malformed(`${offset + bytes.length} of ${total} bytes`)
    const key = `${owner} ${session}`
    const before = this.#find(key, message, total) ?? nothing(owner, message, total)
    this.#forget(key)
    if (before.bytes === total) return this.#repeat(key, before, bytes.length === 0)
    const fresh = offset <= before.bytes ? bytes.subarray(before.bytes - offset) : none
    const room = withRoom(before, fresh.length)
    room.set(fresh, before.bytes)
    const now = before.bytes + fresh.length
    const isWhole = now === total
    if (isWhole && sha256(room.subarray(0, total)) !== message) throw malformed('another hash')
    this.#keep(key, { ...before, room, bytes: now })
    return isWhole ? { bytes: now, whole: room.subarray(0, total) } : { bytes: now }
  }

  #repeat(
    key: string,
    arriving: Arriving,
    isAsked: boolean,
  ): { readonly bytes: number; readonly whole?: Uint8Array } {
    const { total, room, repeats } = arriving
    if (repeats === repeatsMax) return { bytes: 0 }
    this.#keep(key, { ...arriving, repeats: repeats + (isAsked ? 1 : 0) })
    return isAsked ? { bytes: total, whole: room.subarray(0, total) } : { bytes: total }
  }

  #find(key: string, message: Hash, total: number): Arriving | undefined {
    const known = this.#arriving.get(key)
    return known?.message === message && known.total === total ? known : undefined
  }

  #keep(key: string, arriving: Arriving): void {
    this.#arriving.set(key, arriving)
    this.#bytes += arriving.room.length
    while (this.#bytes > bytesMax) this.#forget(this.#oldestOfLargest())
  }

  #oldestOfLargest(): string {
    const held = new Map<string, number>()
    for (const { owner, room } of this.#arriving.values())
      held.set(owner, (held.get(owner) ?? 0) + room.length)
    const most = Math.max(...held.values())
    for (const [key, { owner }] of this.#arriving) if (held.get(owner) === most) return key
    throw new Error('nothing is held')
  }

  #forget(key: string): void {
    this.#bytes -= this.#arriving.get(key)?.room.length ?? 0
    this.#arriving.delete(key)
  }
}

const none = new Uint8Array()

function nothing(owner: string, message: Hash, total: number): Arriving {
  return { owner, message, total, room: none, bytes: 0, repeats: 0 }
}

function withRoom({ room, bytes, total }: Arriving, more: number): Uint8Array {
  if (bytes + more <= room.length) return room
  const larger = new Uint8Array(
    Math.min(total, Math.max(firstBytes, 2 * room.length, bytes + more)),
  )
  larger.set(room.subarray(0, bytes))
  return larger
}

function malformed(reason: string): CairnError {
  return new CairnError('malformed', { what: 'take a piece of a message', reason })
}
