import { errno } from './errno.ts'
import type { AnyOperation, ChangedNode } from './operation.ts'
import type { Request } from './request.ts'
import type { RequestMemory } from './request-memory.ts'
import { isDying } from './signals.ts'

/** How often to check whether a signal kills the caller: the kernel reports only the first one. */
const dyingCheckMs = 100

/** A request whose answer comes later. What it needs of the request buffer is copied. */
export interface Parked {
  readonly operation: AnyOperation
  readonly key: string
  readonly uniqueLow: number
  readonly uniqueHigh: number
  readonly pid: number
  readonly touches: readonly ChangedNode[]
  readonly abort: AbortController | undefined
  /** Where its number stands for a process that comes after. */
  readonly note: number
  timer: NodeJS.Timeout | undefined
}

/** Not a number: a request that is asked again has the highest of 64 bits set. */
function keyOf(uniqueLow: number, uniqueHigh: number): string {
  return `${uniqueHigh}.${uniqueLow}`
}

/**
 * The parked requests, by the kernel's number for them. INVARIANT: each is here until its one reply
 * is sent; the code that takes it out sends it.
 */
export class ParkedRequests {
  readonly #requests = new Map<string, Parked>()
  readonly #memory: RequestMemory
  readonly #deadlineMs: number
  readonly #giveUp: (parked: Parked, errno: number) => void

  constructor(
    memory: RequestMemory,
    deadlineMs: number,
    giveUp: (parked: Parked, errno: number) => void,
  ) {
    this.#memory = memory
    this.#deadlineMs = deadlineMs
    this.#giveUp = giveUp
  }

  get size(): number {
    return this.#requests.size
  }

  add(operation: AnyOperation, request: Request): Parked {
    const { uniqueLow, uniqueHigh, pid, abort } = request
    const key = keyOf(uniqueLow, uniqueHigh)
    const touches = operation.touches?.(request) ?? []
    const parked: Parked = {
      operation,
      key,
      uniqueLow,
      uniqueHigh,
      pid,
      touches,
      abort,
      note: this.#memory.note(uniqueLow, uniqueHigh),
      timer: undefined,
    }
    // What is told to have failed must not happen later: a change waits for as long as its program lives.
    if (operation.touches === undefined && operation.waits !== 'without-limit')
      parked.timer = setTimeout(() => this.#end(parked, errno.ETIMEDOUT), this.#deadlineMs)
    this.#requests.set(key, parked)
    return parked
  }

  /** Whether that request waits. */
  has({ uniqueLow, uniqueHigh }: Request): boolean {
    return this.#requests.has(keyOf(uniqueLow, uniqueHigh))
  }

  /** False when it was answered before. */
  take(parked: Parked): boolean {
    if (this.#requests.get(parked.key) !== parked) return false
    this.#requests.delete(parked.key)
    clearTimeout(parked.timer)
    return true
  }

  /** A signal came for the caller. Unknown: it was answered meanwhile. */
  interrupt(uniqueLow: number, uniqueHigh: number): void {
    const parked = this.#requests.get(keyOf(uniqueLow, uniqueHigh))
    if (parked !== undefined) this.#endIfDying(parked)
  }

  /** This process cannot answer any caller any more. */
  clear(): void {
    for (const parked of this.#requests.values()) {
      clearTimeout(parked.timer)
      parked.abort?.abort()
    }
    this.#requests.clear()
  }

  #endIfDying(parked: Parked): void {
    if (this.#requests.get(parked.key) !== parked) return
    if (parked.operation.interruptible || isDying(parked.pid)) this.#end(parked, errno.EINTR)
    else setTimeout(() => this.#endIfDying(parked), dyingCheckMs).unref()
  }

  #end(parked: Parked, reason: number): void {
    if (!this.take(parked)) return
    this.#giveUp(parked, reason)
    parked.abort?.abort()
  }
}
