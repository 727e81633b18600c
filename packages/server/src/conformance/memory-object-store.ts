import {
  type ObjectRange,
  checkKey,
  checkPrefix,
  type ObjectInfo,
  objectMissing,
  type ObjectStore,
} from '../storage/object-store.ts'

export class MemoryObjectStore implements ObjectStore {
  /** Open to tests that damage or count what is stored. */
  readonly objects: Map<string, Uint8Array> = new Map()

  async put(key: string, ...parts: readonly Uint8Array[]): Promise<void> {
    checkKey(key)
    this.objects.set(key, new Uint8Array(Buffer.concat(parts)))
  }

  async get(key: string, range?: ObjectRange): Promise<Uint8Array> {
    checkKey(key)
    const bytes = this.objects.get(key)
    if (!bytes) throw objectMissing(key)
    return range ? bytes.slice(range.start, range.start + range.length) : bytes.slice()
  }

  async delete(key: string): Promise<void> {
    checkKey(key)
    this.objects.delete(key)
  }

  async *list(prefix: string, after = ''): AsyncGenerator<ObjectInfo> {
    checkPrefix(prefix)
    for (const key of [...this.objects.keys()].sort())
      if (key.startsWith(prefix) && key > after)
        yield { key, sizeBytes: this.objects.get(key)?.length ?? 0 }
  }

  async close(): Promise<void> {}
}
