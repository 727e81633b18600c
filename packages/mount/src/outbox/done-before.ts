import type { Op } from '@cairn/core'

/** What an earlier process did for requests of the kernel, or asked of the server. */
export interface Requests {
  readonly done: ReadonlyMap<number, Op>
  readonly asked: ReadonlyMap<number, { readonly op: Op; readonly number: number }>
  /** What the server took of it, by the session's numbers. */
  readonly taken: ReadonlySet<number>
}

/**
 * Whether a request that the kernel asks again has been done. It may have been, by a daemon that died before it could
 * say so; done twice, a line would be appended twice and names would change places back.
 */
export class DoneBefore {
  readonly #before: Requests
  readonly #taken: Set<number>
  readonly #closeLog: () => Promise<void>

  /** After `closeLog` nothing comes into the log any more that was sent before, and `own` has been told of what had. */
  constructor(before: Requests, closeLog: () => Promise<void>) {
    this.#before = before
    this.#taken = new Set(before.taken)
    this.#closeLog = closeLog
  }

  /** The log has what was submitted under that number. */
  own(number: number): void {
    if (this.#before.asked.size > 0) this.#taken.add(number)
  }

  async find(request: number): Promise<Op | undefined> {
    const asked = this.#before.asked.get(request)
    if (!asked) return this.#before.done.get(request)
    if (!this.#taken.has(asked.number)) await this.#closeLog()
    return this.#taken.has(asked.number) ? asked.op : undefined
  }
}
