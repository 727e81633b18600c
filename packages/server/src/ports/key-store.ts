/**
 * One secret of an owner key. The name is the key: it stands in logs, and its values together are what opens the
 * owner's door.
 */
export interface KeyValue {
  readonly id: string
  readonly owner: string
  readonly name: string
  /** ISO 8601, as all times here: their order is that of their bytes. */
  readonly createdAt: string
  /** From then on it opens nothing. Lies ahead while a rotated secret has its grace. */
  readonly endsAt: string | undefined
}

export interface KeyList {
  /** What `change` compares. */
  readonly version: number
  /** Those that have ended, too: a name is never given twice. */
  readonly values: readonly KeyValue[]
}

/** What happens to one key, all at once. */
export interface KeyChange {
  /** Every value that the name has by now ends then, unless it ends earlier. */
  readonly end?: { readonly name: string; readonly at: string }
  readonly create?: { readonly value: KeyValue; readonly secretHash: Uint8Array }
}

/** Where owner keys are written down. Secrets never are, only their SHA-256. */
export interface KeyStore {
  /** False when the id or the secret is taken. */
  create(value: KeyValue, secretHash: Uint8Array): Promise<boolean>
  /** One that has ended, too. */
  findBySecret(secretHash: Uint8Array): Promise<KeyValue | undefined>
  /** Those that are there, by id: one question for everything that is open. */
  findAll(ids: readonly string[]): Promise<readonly KeyValue[]>
  /** All of an owner's. */
  read(owner: string): Promise<KeyList>
  /** False when the list has changed since that version: several servers may change it at once. */
  change(owner: string, version: number, change: KeyChange): Promise<boolean>
}
