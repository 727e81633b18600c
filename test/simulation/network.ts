import type { Connect, Wire, WireEvents } from '@cairn/mount'
import {
  decodeReply,
  encodeReply,
  encodeRequest,
  type SessionReply,
  type SessionRequest,
} from '@cairn/protocol'
import type { ClientSocket, ServedConnection } from '@cairn/server'
import type { Chance } from '../model/chance.ts'
import type { Scheduler } from './scheduler.ts'
import { describeMessage, type Trace } from './trace.ts'

export interface NetworkParts {
  readonly scheduler: Scheduler
  readonly chance: Chance
  readonly trace: Trace
  readonly delayMs: number
}

/** What the network can reach. */
export interface Host {
  readonly name: string
  readonly isUp: boolean
  accept(connection: ClientSocket): ServedConnection
}

export interface Caller {
  readonly name: string
  /** Sees every reply before the session does. */
  readonly onReply: (reply: SessionReply) => void
}

/** Half-open connections end when one side's keep-alive notices. */
const noticeMs = 5000

/** Connections between clients and servers. Messages of one keep their order; those of two do not. */
export class Network {
  readonly #parts: NetworkParts
  readonly #links = new Set<Link>()
  readonly #unreachable = new Set<string>()

  constructor(parts: NetworkParts) {
    this.#parts = parts
  }

  /** A client's way to any of the hosts that is up: as behind a balancer, another one each time. */
  connectTo(hosts: readonly Host[], caller: Caller): Connect {
    const { scheduler, chance, trace, delayMs } = this.#parts
    return async (events) => {
      await scheduler.sleep(chance.below(delayMs))
      const host = chance.choose(hosts)
      if (!host.isUp || this.#unreachable.has(caller.name)) throw new Error('no server answers')
      const link = new Link(this.#parts, caller, host, events, () => this.#links.delete(link))
      this.#links.add(link)
      trace.note(() => `${link.name} is open`)
      return link.open()
    }
  }

  /** Some connection breaks: what is on its way is lost, and both sides hear of it. */
  cutSome(): void {
    this.#chooseLink()?.cut(0)
  }

  /** Some connection goes silent; its ends learn of it much later. */
  silenceSome(): void {
    this.#chooseLink()?.cut(noticeMs)
  }

  /** Nothing to or from that client until it is healed. */
  isolate(client: string): void {
    this.#unreachable.add(client)
    for (const link of this.#links)
      if (link.caller.name === client) link.cut(this.#parts.chance.choose([0, noticeMs]))
  }

  heal(client: string): void {
    this.#unreachable.delete(client)
  }

  healAll(): void {
    this.#unreachable.clear()
  }

  /** A machine is gone: sometimes its kernel still reports it, sometimes nothing does. */
  drop(name: string): void {
    for (const link of this.#links)
      if (link.host.name === name || link.caller.name === name)
        link.cut(this.#parts.chance.choose([0, noticeMs]))
  }

  #chooseLink(): Link | undefined {
    return this.#parts.chance.choose([...this.#links])
  }
}

/** One connection: two rows of messages, each in order. */
class Link {
  readonly name: string
  readonly caller: Caller
  readonly host: Host
  readonly #parts: NetworkParts
  readonly #events: WireEvents
  readonly #onEnd: () => void
  #served: ServedConnection | undefined
  /** Cut: nothing that is on its way arrives. */
  #isCut = false
  readonly #ended = { client: false, server: false }
  readonly #lastMs = { client: 0, server: 0 }

  constructor(
    parts: NetworkParts,
    caller: Caller,
    host: Host,
    events: WireEvents,
    onEnd: () => void,
  ) {
    this.#parts = parts
    this.caller = caller
    this.host = host
    this.name = `${caller.name}~${host.name}`
    this.#events = events
    this.#onEnd = onEnd
  }

  open(): Wire {
    const { chance } = this.#parts
    this.#served = this.host.accept({
      send: (reply) => this.#reply(reply),
      // Now and then the other end does not read as fast as the server writes.
      get bufferedBytes() {
        return chance.oneIn(20) ? 100 << 20 : 0
      },
      close: () => this.#close('server'),
    })
    return {
      send: (request) => this.#request(request),
      close: () => this.#close('client'),
      ping: () =>
        new Promise((answered) =>
          this.#deliver('server', () => this.#deliver('client', () => answered())),
        ),
    }
  }

  /** Each side notices within `noticeMs`. */
  cut(noticeMs: number): void {
    if (this.#isCut) return
    this.#isCut = true
    const { scheduler, chance, trace } = this.#parts
    trace.note(() => `${this.name} ${noticeMs > 0 ? 'goes silent' : 'is cut'}`)
    this.#onEnd()
    for (const side of ['client', 'server'] as const)
      scheduler.after(chance.below(noticeMs + 10), () => this.#end(side))
  }

  #request(request: SessionRequest): void {
    if (this.#ended.client) return
    const bytes = encodeRequest(request)
    this.#deliver('server', () => {
      this.#parts.trace.note(() => `${this.name} > ${describeMessage(request)}`)
      void this.#served?.onMessage(bytes)
    })
  }

  #reply(reply: SessionReply): void {
    if (this.#ended.server) return
    const decoded = decodeReply(encodeReply(reply))
    this.#deliver('client', () => {
      this.#parts.trace.note(() => `${this.name} < ${describeMessage(reply)}`)
      this.caller.onReply(decoded)
      this.#events.onReply(decoded)
    })
  }

  #close(by: 'client' | 'server'): void {
    const other = by === 'client' ? 'server' : 'client'
    this.#parts.scheduler.after(0, () => this.#end(by))
    this.#deliver(other, () => this.#end(other))
  }

  #deliver(to: 'client' | 'server', run: () => void): void {
    const { scheduler, chance, delayMs } = this.#parts
    const timeMs = Math.max(this.#lastMs[to], scheduler.nowMs + chance.below(delayMs))
    this.#lastMs[to] = timeMs
    scheduler.after(timeMs - scheduler.nowMs, () => {
      if (!this.#isCut && !this.#ended[to]) run()
    })
  }

  #end(side: 'client' | 'server'): void {
    if (this.#ended[side]) return
    this.#ended[side] = true
    this.#onEnd()
    if (side === 'client') this.#events.onClose()
    else this.#served?.onClose()
  }
}
