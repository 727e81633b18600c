import { CairnError } from '@cairn/protocol'

/** Wrong keys that an address may show at once, and how soon it may show another one. */
const burst = 20
const refillMs = 1000
const addressesMax = 4096

interface Bucket {
  left: number
  atMs: number
}

/**
 * Slows down clients that guess keys, by address. A key that was right there before is let in all
 * the same: one client with a wrong key must not lock out its neighbours. The memory is bounded:
 * the oldest address is forgotten first.
 */
export class FailedAttempts {
  readonly #nowMs: () => number
  readonly #buckets = new Map<string, Bucket>()
  /** Addresses with the hashes of keys that were right there. */
  readonly #welcome = new Set<string>()

  constructor(nowMs: () => number = Date.now) {
    this.#nowMs = nowMs
  }

  /** Before a key is looked at. Throws `too_many_attempts`. */
  require(address: string, keyHash = ''): void {
    const waitMs = this.waitMs(address)
    if (waitMs === 0 || this.#welcome.has(`${address} ${keyHash}`)) return
    throw new CairnError('too_many_attempts', {
      what: 'look at the key',
      reason: `too many wrong ones came from ${address}; the next in ${Math.ceil(waitMs / 1000)} s`,
      subject: address,
    })
  }

  /** How long until the next may be shown; 0 for now. */
  waitMs(address: string): number {
    const bucket = this.#buckets.get(address)
    if (!bucket) return 0
    const left = this.#refilled(bucket)
    return left >= 1 ? 0 : Math.ceil((1 - left) * refillMs)
  }

  /** The key was right. */
  welcome(address: string, keyHash: string): void {
    const guest = `${address} ${keyHash}`
    this.#welcome.delete(guest)
    this.#welcome.add(guest)
    if (this.#welcome.size > addressesMax)
      this.#welcome.delete(this.#welcome.values().next().value!)
  }

  note(address: string): void {
    const bucket = this.#buckets.get(address)
    const left = bucket ? this.#refilled(bucket) : burst
    this.#buckets.delete(address)
    this.#buckets.set(address, { left: Math.max(0, left - 1), atMs: this.#nowMs() })
    if (this.#buckets.size > addressesMax) this.#buckets.delete(this.#buckets.keys().next().value!)
  }

  #refilled({ left, atMs }: Bucket): number {
    return Math.min(burst, left + (this.#nowMs() - atMs) / refillMs)
  }
}
