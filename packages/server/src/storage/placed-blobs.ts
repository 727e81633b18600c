import { randomBytes } from 'node:crypto'
import type { BlobDraft, BlobStore } from '@cairn/core'
import { CairnError, formatHash, type Hash, isCairnError } from '@cairn/protocol'
import { bytesOf, hashColumn, textOf } from './columns.ts'
import { ContentTable, poolKey } from './content-table.ts'
import { ContentRemover } from './content-remover.ts'
import type { Database } from './database.ts'
import { type DraftMark, draftMark } from './draft-mark.ts'
import { gather } from './gather.ts'
import type { ObjectStore } from './object-store.ts'
import { ObjectTable, type ObjectWish } from './object-table.ts'
import { PlacedDraft } from './placed-draft.ts'
import { spareRows } from './touch-rows.ts'

/**
 * Up to here a blob goes into SQL, where many of them cost one transaction. Beyond, a request of its own is cheap
 * beside moving its bytes.
 */
const sqlBytesMax = 64 << 10
/** Objects on their way at once: enough to hide a store's latency, few enough to leave it to others. */
const objectsAtOnce = 16

/** The blobs of one pool: small ones in SQL, large ones in the object store. */
export class PlacedBlobs implements BlobStore {
  readonly #database: Database
  readonly #small: ContentTable
  readonly #large: ObjectTable
  readonly #objects: ObjectStore
  readonly #pool: string
  readonly #reserve: (wishes: ReadonlyMap<Hash, ObjectWish>) => Promise<ReadonlyMap<Hash, string>>
  readonly #settle: (keys: ReadonlyMap<Hash, string>) => Promise<void>

  constructor(database: Database, objects: ObjectStore, pool: string) {
    this.#database = database
    this.#small = new ContentTable(database, 'blobs', pool)
    this.#large = new ObjectTable(database, pool, () => togetherIn(pool))
    this.#objects = objects
    this.#pool = pool
    // What two ask for at once is no draft's alone.
    this.#reserve = gather(
      (wishes) => this.#large.reserve(wishes),
      (_, { size }) => ({ size, mark: undefined }),
    )
    this.#settle = gather((keys) => this.#large.settle(keys))
  }

  async get(id: Hash): Promise<Uint8Array> {
    const found = await this.#find(id)
    if (found instanceof Uint8Array) return found
    try {
      return await this.#objects.get(found)
    } catch (error) {
      throw isCairnError(error, 'blob_missing') ? missing(id, error) : error
    }
  }

  put(blobs: ReadonlyMap<Hash, Uint8Array>): Promise<void> {
    return this.#put(blobs, undefined)
  }

  draft(nowMs: () => number): BlobDraft {
    const marks = new Set<DraftMark>()
    let hasLarge = false
    return new PlacedDraft({
      put: (blobs) => {
        const mark = draftMark(nowMs())
        marks.add(mark)
        hasLarge ||= [...blobs.values()].some(isLarge)
        return this.#put(blobs, mark)
      },
      keep: async (ids) => {
        const pool = poolKey(this.#pool)
        await spareRows(this.#database, 'blobs', pool, ids)
        if (hasLarge) await spareRows(this.#database, 'blob_objects', pool, ids)
      },
      drop: (ids) => this.#drop(ids, [...marks]),
    })
  }

  async #put(blobs: ReadonlyMap<Hash, Uint8Array>, mark: DraftMark | undefined): Promise<void> {
    const all = [...blobs]
    const large = all.filter(([, bytes]) => isLarge(bytes))
    const small = all.filter(([, bytes]) => !isLarge(bytes))
    await Promise.all([
      this.#small.put(new Map(small), mark),
      this.#putObjects(new Map(large), mark),
    ])
    // DURABLE: database and object store have all of them on disk; a tree may point at them.
  }

  async touch(ids: readonly Hash[]): Promise<ReadonlySet<Hash>> {
    const small = await this.#small.touch(ids)
    const rest = ids.filter((id) => !small.has(id))
    return new Set([...small, ...(await this.#large.touch(rest))])
  }

  /** Its bytes, or the key of its object; one from before objects had rows is where its id says. */
  async #find(id: Hash): Promise<Uint8Array | string> {
    const params = [poolKey(this.#pool), hashColumn(id)]
    const [row] = await this.#database.query(
      `SELECT bytes, NULL AS object_key FROM blobs WHERE pool = ? AND hash = ?
       UNION ALL SELECT NULL, object_key FROM blob_objects WHERE pool = ? AND hash = ?`,
      [...params, ...params],
    )
    if (!row) return oldKey(this.#pool, id)
    return row['bytes'] === null ? textOf(row, 'object_key') : bytesOf(row, 'bytes')
  }

  /** Each put or touch takes a mark back: what still has it is this draft's alone. */
  async #drop(ids: readonly Hash[], marks: readonly DraftMark[]): Promise<void> {
    if (ids.length === 0) return
    const remover = new ContentRemover(this.#database, this.#objects)
    const condition = { sql: `condemned_ms IN (${marks.map(() => '?').join(', ')})`, params: marks }
    for (const table of ['blobs', 'blob_objects'] as const)
      await remover.remove(poolKey(this.#pool), table, ids, condition)
  }

  async #putObjects(
    blobs: ReadonlyMap<Hash, Uint8Array>,
    mark: DraftMark | undefined,
  ): Promise<void> {
    if (blobs.size === 0) return
    const wishes = new Map(
      [...blobs].map(([id, { length: size }]) => [id, { size, mark }] as const),
    )
    const missing = await this.#reserve(wishes)
    const keys = new Map([...missing].filter(([id]) => blobs.has(id)))
    if (keys.size === 0) return
    const queue = keys.entries()
    // A fixed number of carriers, each taking the next one.
    const carry = async (): Promise<void> => {
      for (const [id, key] of queue) await this.#objects.put(key, blobs.get(id)!)
    }
    await Promise.all(Array.from({ length: Math.min(objectsAtOnce, keys.size) }, carry))
    await this.#settle(keys)
  }
}

function isLarge({ length }: Uint8Array): boolean {
  return length > sqlBytesMax
}

/**
 * Two digits make 256 directories on disk, which stay fast with millions of blobs. What is stored together is in one of them, so
 * that its names are synced together.
 */
function togetherIn(pool: string): (id: Hash) => string {
  const directory = randomBytes(1).toString('hex')
  return (id) => `blobs/${pool}/${directory}/${formatHash(id)}`
}

/** Where a blob is that was stored before objects had rows. */
function oldKey(pool: string, id: Hash): string {
  const hex = formatHash(id)
  return `blobs/${pool}/${hex.slice(0, 2)}/${hex}`
}

function missing(id: Hash, cause: unknown): CairnError {
  const subject = formatHash(id)
  return new CairnError('blob_missing', {
    what: `read blob ${subject}`,
    reason: 'not stored',
    subject,
    cause,
  })
}
