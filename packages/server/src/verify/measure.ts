import type { BranchId, SessionId } from '@cairn/protocol'
import { uniqueHash, uniqueId } from '@cairn/core/conformance'
import type { Database } from '../storage/database.ts'
import { LogTable } from '../storage/log-table.ts'
import type { ObjectStore } from '../storage/object-store.ts'
import type { StoreRole, StoreSpeed } from './report.ts'

const requestsMax = 400
/** A slow store is known after fewer requests. */
const sampleMsMax = 4000
const manyAtOnce = 16

/** A batch of a few operations. */
const batchBytes = 4 << 10
/** A block of a file. */
const objectBytes = 256 << 10

export async function measureDatabase(
  database: Database,
  signal: AbortSignal,
): Promise<readonly StoreSpeed[]> {
  const log = new LogTable(database)
  const commits = async (atOnce: number): Promise<StoreSpeed> => {
    const writers = Array.from({ length: atOnce }, () => makeWriter(log))
    const name = atOnce === 1 ? 'commit 4 KiB' : `commit 4 KiB, ${atOnce} at once`
    return measure({ store: 'database', name, atOnce, signal }, (worker) => writers[worker]!())
  }
  return [
    await measure({ store: 'database', name: 'read a row', atOnce: 1, signal }, () =>
      database.query('SELECT version FROM migrations WHERE version = ?', [1]),
    ),
    await commits(1),
    await commits(manyAtOnce),
  ]
}

export async function measureObjects(
  objects: ObjectStore,
  signal: AbortSignal,
): Promise<readonly StoreSpeed[]> {
  const bytes = new Uint8Array(objectBytes).fill(7)
  const keys: string[] = []
  const speeds: StoreSpeed[] = []
  for (const atOnce of [1, manyAtOnce]) {
    const suffix = atOnce === 1 ? '' : `, ${atOnce} at once`
    const sample = { store: 'objects', atOnce, bytes: objectBytes, signal } as const
    speeds.push(
      await measure({ ...sample, name: `put 256 KiB${suffix}` }, () => {
        const key = `speed/${uniqueId()}`
        keys.push(key)
        return objects.put(key, bytes)
      }),
      await measure({ ...sample, name: `get 256 KiB${suffix}` }, (_, i) =>
        objects.get(keys[i % keys.length]!),
      ),
    )
  }
  return speeds
}

/** Appends to a branch of its own, each time the next batch. */
function makeWriter(log: LogTable): () => Promise<void> {
  const [branch, session] = [uniqueId<BranchId>(), uniqueId<SessionId>()]
  let seq = 0
  return () => {
    const number = ++seq
    const bytes = new Uint8Array(batchBytes).fill(number)
    return log.append(branch, [{ seq, session, number, hash: uniqueHash(), bytes }])
  }
}

interface Sample {
  readonly store: StoreRole
  readonly name: string
  readonly atOnce: number
  /** Bytes of each request. */
  readonly bytes?: number
  readonly signal: AbortSignal
}

async function measure(
  { store, name, atOnce, bytes, signal }: Sample,
  request: (worker: number, index: number) => Promise<unknown>,
): Promise<StoreSpeed> {
  const tookMs: number[] = []
  const start = performance.now()
  let next = 0
  const work = async (worker: number): Promise<void> => {
    while (next < requestsMax && performance.now() - start < sampleMsMax) {
      signal.throwIfAborted()
      const begin = performance.now()
      await request(worker, next++)
      tookMs.push(performance.now() - begin)
    }
  }
  await Promise.all(Array.from({ length: atOnce }, (_, worker) => work(worker)))
  const perSecond = (tookMs.length / (performance.now() - start)) * 1000
  tookMs.sort((a, b) => a - b)
  const at = (share: number): number => tookMs[Math.floor(share * (tookMs.length - 1))]!
  const latency = { requests: tookMs.length, p50Ms: at(0.5), p99Ms: at(0.99), perSecond }
  const content = bytes === undefined ? {} : { bytesPerSecond: bytes * perSecond }
  return { store, name, atOnce, ...latency, ...content }
}
