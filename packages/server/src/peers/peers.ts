import type { Socket } from 'node:net'
import { CairnError, messageBytesMax } from '@cairn/protocol'
import { WebSocket } from 'ws'
import type { Clock } from '../ports/clock.ts'
import { peerHeader, type PeerProof, type RelayedRequest } from './peer-proof.ts'

/** A server that is there answers within milliseconds; a client waits meanwhile. */
const dialMsMax = 2000
/** One that did not answer is not asked again for so long. */
const restMs = 10_000

export interface PeersParts {
  /** Where other servers reach this one. */
  readonly address: string
  readonly proof: PeerProof
  readonly clock: Pick<Clock, 'nowMs'>
  /** Hears of what works and should not be left so. */
  readonly warn: (message: string) => void
}

/** The other end of a relayed connection. */
export interface Peer {
  readonly socket: WebSocket
  readonly raw: Socket
}

/** The other servers on the same stores, as far as lease records name them. */
export class Peers {
  readonly #parts: PeersParts
  /** Until when those that did not answer are left alone. */
  readonly #resting = new Map<string, number>()
  /** Until when those that answered need not be asked again. */
  readonly #trusted = new Map<string, number>()

  constructor(parts: PeersParts) {
    this.#parts = parts
  }

  get address(): string {
    return this.#parts.address
  }

  get proof(): PeerProof {
    return this.#parts.proof
  }

  /** A connection for sessions to the first of these servers that takes one; undefined where none does. */
  dial(addresses: readonly string[], request: RelayedRequest): Promise<Peer | undefined> {
    return this.#first(addresses, (address) => dial(address, this.headersOf(request)))
  }

  /** The first of these servers that takes requests from this one, as it was a moment ago; undefined where none does. */
  find(addresses: readonly string[], request: RelayedRequest): Promise<string | undefined> {
    return this.#first(addresses, async (address) => {
      const nowMs = this.#parts.clock.nowMs()
      if ((this.#trusted.get(address) ?? 0) > nowMs) return address
      const [headers, signal] = [this.headersOf(request), AbortSignal.timeout(dialMsMax)]
      const { ok, status } = await fetch(`${address}/healthz`, { headers, signal })
      if (!ok) throw new Error(`it answers ${status}`)
      this.#trusted.set(address, nowMs + restMs)
      return address
    })
  }

  /** What tells a peer for whom this server asks. */
  headersOf(request: RelayedRequest): Readonly<Record<string, string>> {
    const { authorization } = request
    const proof = { [peerHeader]: this.proof.sign(request) }
    return authorization === undefined ? proof : { ...proof, authorization }
  }

  /** Said when it begins, and not with each client that comes meanwhile. */
  noteFailure(address: string, error: unknown): void {
    const { clock, warn } = this.#parts
    if (!this.#resting.has(address)) warn(unreachable(address, error as Error))
    this.#resting.set(address, clock.nowMs() + restMs)
    this.#trusted.delete(address)
  }

  async #first<T>(
    addresses: readonly string[],
    ask: (address: string) => Promise<T>,
  ): Promise<T | undefined> {
    for (const address of addresses) {
      if ((this.#resting.get(address) ?? 0) > this.#parts.clock.nowMs()) continue
      try {
        const found = await ask(address)
        this.#resting.delete(address)
        return found
      } catch (error) {
        this.noteFailure(address, error)
      }
    }
    return undefined
  }
}

function dial(address: string, headers: Readonly<Record<string, string>>): Promise<Peer> {
  return new Promise((resolve, reject) => {
    const socket = new WebSocket(`${address.replace(/^http/, 'ws')}/v1/sessions`, {
      headers,
      maxPayload: messageBytesMax,
      perMessageDeflate: false,
      // Masks are for pages in browsers. Masking all that a client sends once more would cost more than sending it.
      generateMask: (mask) => mask.fill(0),
      handshakeTimeout: dialMsMax,
    })
    socket.once('unexpected-response', (request, { statusCode }) => {
      request.destroy()
      reject(new Error(`it answers ${statusCode}`))
    })
    socket.on('error', reject)
    socket.once('upgrade', ({ socket: raw }) => {
      socket.once('open', () => resolve({ socket, raw }))
    })
  })
}

function unreachable(address: string, { message }: Error): string {
  return `the server at ${address} takes no clients from this one: ${message}. Mounts of one branch that are connected to both work one after the other until it does. See that --peer-address of that server is right, and that all servers have the same master key`
}

/** Throws `invalid_argument`. */
export function parsePeerAddress(address: string, isShared: boolean): string {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const fail = (reason: string): never => {
    throw new CairnError('invalid_argument', { what: `use the peer address '${address}'`, reason })
  }
  if (!isShared) fail('servers have peers only where they share a database: give --meta')
  if (!url || !/^https?:$/.test(url.protocol) || url.search + url.hash + url.username !== '')
    return fail('want http://HOST:PORT or https://HOST:PORT')
  return url.href.replace(/\/$/, '')
}
