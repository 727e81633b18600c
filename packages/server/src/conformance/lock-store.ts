import { casesOf, expect, type StoreCase, type StoreTest, uniqueId } from '@cairn/core/conformance'
import type { FileLock } from '@cairn/core'
import type { BranchId, Ino, SessionId } from '@cairn/protocol'
import type { LockRecord, LockStore } from '../ports/lock-store.ts'

/** The contract of LockStore: one record a file that has locks, moved on by one who saw the one before. */
export const lockStoreCases: readonly StoreCase<LockStore>[] = casesOf((test) => {
  recordCases(test)
  raceCases(test)
})

function recordCases(test: StoreTest<LockStore>): void {
  test('a file without locks has no record', async (store) => {
    const branch = uniqueId() as BranchId
    expect(await store.get(branch, 1 as Ino)).toBe(undefined)
    expect(await store.list(branch)).toEqual([])
  })

  test('a record comes back as it was put', async (store) => {
    const record = makeRecord({
      ino: (2 ** 48) as Ino,
      locks: [lock({ owner: 'é"\\\n', end: Number.MAX_SAFE_INTEGER }), lock({ kind: 'flock' })],
      stamp: 2 ** 48 - 1,
    })
    expect(await store.replace(undefined, record)).toBe(true)
    expect(await store.get(record.branch, record.ino)).toEqual(record)
  })

  test('a thousand locks fit', async (store) => {
    const locks = Array.from({ length: 1000 }, (_, i) => lock({ start: 2 * i, end: 2 * i }))
    const record = makeRecord({ locks })
    await store.replace(undefined, record)
    expect((await store.get(record.branch, record.ino))?.locks).toEqual(locks)
  })

  test('files do not meet, nor do branches', async (store) => {
    const a = makeRecord({ ino: 1 as Ino })
    const b = { ...a, ino: 2 as Ino, stamp: 8 }
    const c = { ...a, branch: uniqueId() as BranchId, stamp: 9 }
    for (const each of [a, b, c]) expect(await store.replace(undefined, each)).toBe(true)
    for (const each of [a, b, c]) expect(await store.get(each.branch, each.ino)).toEqual(each)
    const listed = await store.list(a.branch)
    expect(listed.toSorted((one, other) => one.ino - other.ino)).toEqual([a, b])
  })

  test('one without locks is taken away, and may come again', async (store) => {
    const record = makeRecord({})
    await store.replace(undefined, record)
    expect(await store.replace(record, { ...record, locks: [], stamp: 8 })).toBe(true)
    expect(await store.get(record.branch, record.ino)).toBe(undefined)
    expect(await store.replace(undefined, { ...record, stamp: 9 })).toBe(true)
  })
}

function raceCases(test: StoreTest<LockStore>): void {
  test('the first is written once', async (store) => {
    const record = makeRecord({})
    expect(await store.replace(undefined, record)).toBe(true)
    expect(await store.replace(undefined, { ...record, stamp: 8 })).toBe(false)
    expect(await store.get(record.branch, record.ino)).toEqual(record)
  })

  test('a change based on another version changes and removes nothing', async (store) => {
    const [first, second] = [makeRecord({}), lock({ owner: 'second' })]
    await store.replace(undefined, first)
    const next = { ...first, locks: [second], stamp: 8 }
    expect(await store.replace(first, next)).toBe(true)
    expect(await store.replace(first, { ...first, stamp: 9 })).toBe(false)
    expect(await store.replace(first, { ...first, locks: [], stamp: 9 })).toBe(false)
    expect(await store.get(first.branch, first.ino)).toEqual(next)
  })

  test('what went is not changed', async (store) => {
    const record = makeRecord({})
    expect(await store.replace(record, { ...record, stamp: 8 })).toBe(false)
    expect(await store.get(record.branch, record.ino)).toBe(undefined)
  })

  test('of several at once one wins, and it is the one that is there', async (store) => {
    let before: LockRecord | undefined
    const record = makeRecord({})
    for (let round = 1; round <= 5; round++) {
      const rivals = Array.from({ length: 8 }, (_, i) => ({ ...record, stamp: 100 * round + i }))
      const won = await Promise.all(rivals.map((rival) => store.replace(before, rival)))
      expect(won.filter(Boolean).length).toBe(1)
      before = rivals[won.indexOf(true)]
      expect(await store.get(record.branch, record.ino)).toEqual(before)
    }
  })
}

function makeRecord(fields: Partial<LockRecord>): LockRecord {
  const branch = `${uniqueId()}/main` as BranchId
  return { branch, ino: 7 as Ino, locks: [lock({})], stamp: 7, ...fields }
}

function lock(fields: Partial<FileLock>): FileLock {
  const session = 's' as SessionId
  return { session, owner: 'o', kind: 'posix', start: 0, end: 9, mode: 'write', pid: 1, ...fields }
}
