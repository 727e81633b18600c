import type { KeyChange, KeyList, KeyStore, KeyValue } from '../src/ports/key-store.ts'

export class MemoryKeyStore implements KeyStore {
  readonly #values = new Map<string, KeyValue>()
  readonly #versions = new Map<string, number>()

  async create(value: KeyValue, secretHash: Uint8Array): Promise<boolean> {
    return this.#insert(value, secretHash)
  }

  async findBySecret(secretHash: Uint8Array): Promise<KeyValue | undefined> {
    return this.#values.get(Buffer.from(secretHash).toString('hex'))
  }

  async findAll(ids: readonly string[]): Promise<readonly KeyValue[]> {
    return [...this.#values.values()].filter(({ id }) => ids.includes(id))
  }

  async read(owner: string): Promise<KeyList> {
    const order = (a: KeyValue, b: KeyValue): number =>
      `${a.createdAt} ${a.id}` < `${b.createdAt} ${b.id}` ? -1 : 1
    const values = [...this.#values.values()].filter((value) => value.owner === owner).sort(order)
    return { version: this.#versions.get(owner) ?? 0, values }
  }

  async change(owner: string, version: number, { end, create }: KeyChange): Promise<boolean> {
    if ((this.#versions.get(owner) ?? 0) !== version) return false
    if (create && !this.#insert(create.value, create.secretHash)) return false
    this.#versions.set(owner, version + 1)
    for (const [hash, value] of this.#values) {
      const isMeant = value.owner === owner && value.name === end?.name
      if (!isMeant || value.id === create?.value.id) continue
      if (value.endsAt === undefined || value.endsAt > end!.at)
        this.#values.set(hash, { ...value, endsAt: end!.at })
    }
    return true
  }

  #insert(value: KeyValue, secretHash: Uint8Array): boolean {
    const hash = Buffer.from(secretHash).toString('hex')
    const isTaken = [...this.#values.values()].some(({ id }) => id === value.id)
    if (isTaken || this.#values.has(hash)) return false
    this.#values.set(hash, value)
    return true
  }
}
