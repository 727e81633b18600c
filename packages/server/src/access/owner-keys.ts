import { randomBytes } from 'node:crypto'
import { CairnError, type IssuedKey, type KeyInfo } from '@cairn/protocol'
import type { Clock } from '../ports/clock.ts'
import { hashSecret, type KnownKey } from './authenticator.ts'
import type { KeyChange, KeyList, KeyStore, KeyValue } from '../ports/key-store.ts'

/** How long a key is believed. With the time between two looks at what is open it stays below a second. */
const knownMs = 300
/** Changes of several servers at once are few; this is only to end. */
const attemptsMax = 20

/** A secret that opens an owner's door. */
export function makeKeySecret(): string {
  return `cairn_${randomBytes(32).toString('base64url')}`
}

export function keyIdOf(secretHash: Uint8Array): string {
  return `key_${Buffer.from(secretHash).toString('hex').slice(0, 16)}`
}

/** The keys of owners: found by their secrets, added, rotated and removed by their names. */
export class OwnerKeys {
  readonly #store: KeyStore
  readonly #clock: Pick<Clock, 'nowMs'>
  readonly #known = new Map<string, { readonly value: KeyValue; readonly untilMs: number }>()
  readonly #listeners = new Set<() => void>()

  constructor(store: KeyStore, clock: Pick<Clock, 'nowMs'>) {
    this.#store = store
    this.#clock = clock
  }

  get store(): KeyStore {
    return this.#store
  }

  /** Undefined for what is no key; rejects with `access_ended` for one that was removed or rotated. */
  readonly find = async (secretHash: Uint8Array): Promise<KnownKey | undefined> => {
    const value = await this.#findValue(secretHash)
    if (value) requireKeyLive(value, this.#clock.nowMs())
    return value
  }

  /** By name; those that were removed, too. */
  async list(owner: string): Promise<readonly KeyInfo[]> {
    const { values } = await this.#store.read(owner)
    const names = [...new Set(values.map(({ name }) => name))].sort()
    return names.map((name) => this.#describe(name, values))
  }

  /** Rejects with `key_exists` for a name that a key has or had. */
  add(owner: string, name: string): Promise<IssuedKey> {
    return this.#issue(owner, name, ({ values }) => {
      if (values.some((value) => value.name === name) || name === 'server')
        throw new CairnError('key_exists', {
          what: `add key '${name}'`,
          reason: 'the name is taken',
          subject: name,
        })
      return {}
    })
  }

  /** Gives the key another secret. The one before ends now, or after the grace. */
  rotate(owner: string, name: string, graceMs: number): Promise<IssuedKey> {
    return this.#issue(owner, name, (list) => {
      this.#requireKey(list, name, 'rotate')
      return { end: { name, at: isoOf(this.#clock.nowMs() + graceMs) } }
    })
  }

  /** Ends all secrets of the key. Rejects with `last_key` where no other is left. */
  async remove(owner: string, name: string): Promise<KeyInfo> {
    await this.#change(owner, (list) => {
      this.#requireKey(list, name, 'remove')
      const others = list.values.filter((value) => value.name !== name && this.#isLasting(value))
      if (others.length === 0)
        throw new CairnError('last_key', {
          what: `remove key '${name}'`,
          reason: 'it is the only owner key',
          subject: name,
        })
      return { end: { name, at: isoOf(this.#clock.nowMs()) } }
    })
    return this.#describe(name, (await this.#store.read(owner)).values)
  }

  /** Hears that keys have changed here. Gives what stops it. */
  subscribe(listener: () => void): () => void {
    this.#listeners.add(listener)
    return () => this.#listeners.delete(listener)
  }

  async #issue(
    owner: string,
    name: string,
    decide: (list: KeyList) => KeyChange,
  ): Promise<IssuedKey> {
    const secret = makeKeySecret()
    const secretHash = hashSecret(secret)
    await this.#change(owner, (list) => {
      const createdAt = isoOf(this.#clock.nowMs())
      const value = { id: keyIdOf(secretHash), owner, name, createdAt, endsAt: undefined }
      return { ...decide(list), create: { value, secretHash } }
    })
    return { ...this.#describe(name, (await this.#store.read(owner)).values), secret }
  }

  /** Decides again whenever another server was quicker. */
  async #change(owner: string, decide: (list: KeyList) => KeyChange): Promise<void> {
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const list = await this.#store.read(owner)
      if (!(await this.#store.change(owner, list.version, decide(list)))) continue
      this.#known.clear()
      for (const listener of this.#listeners) listener()
      return
    }
    throw new CairnError('storage_unavailable', {
      what: 'change the keys',
      reason: 'others change them all the time',
    })
  }

  async #findValue(secretHash: Uint8Array): Promise<KeyValue | undefined> {
    const hash = Buffer.from(secretHash).toString('base64')
    const known = this.#known.get(hash)
    if (known && known.untilMs > this.#clock.nowMs()) return known.value
    const untilMs = this.#clock.nowMs() + knownMs
    const value = await this.#store.findBySecret(secretHash)
    // Wrong keys are not remembered: many tries must not fill the memory.
    if (value) this.#known.set(hash, { value, untilMs })
    else this.#known.delete(hash)
    return value
  }

  #requireKey({ values }: KeyList, name: string, verb: string): void {
    if (values.some((value) => value.name === name && this.#isLasting(value))) return
    throw new CairnError('key_missing', {
      what: `${verb} key '${name}'`,
      reason: `there is no key '${name}'`,
      subject: name,
    })
  }

  /** One that only has its grace left does not count as a key. */
  #isLasting({ endsAt }: KeyValue): boolean {
    return endsAt === undefined
  }

  #describe(name: string, all: readonly KeyValue[]): KeyInfo {
    const values = all.filter((value) => value.name === name)
    const [first, last] = [values[0]!, values.at(-1)!]
    const createdAt = first.createdAt
    const ends = values.flatMap(({ endsAt }) => endsAt ?? []).sort()
    const [end = '', now] = [ends.at(-1), isoOf(this.#clock.nowMs())]
    if (!values.some((value) => this.#isLasting(value)))
      return { name, state: 'removed', createdAt, removedAt: end }
    return {
      name,
      state: 'live',
      createdAt,
      ...(last === first ? {} : { rotatedAt: last.createdAt }),
      ...(end > now ? { graceUntil: end } : {}),
    }
  }
}

/** Throws `access_ended` once it is over. */
export function requireKeyLive({ name, endsAt }: KeyValue, nowMs: number): void {
  if (endsAt === undefined || Date.parse(endsAt) > nowMs) return
  throw new CairnError('access_ended', {
    what: `use this secret of key '${name}'`,
    reason: `the key '${name}' was removed or rotated; this secret ended at ${endsAt}`,
    subject: name,
  })
}

function isoOf(ms: number): string {
  return new Date(ms).toISOString()
}
