import { casesOf, expect, type StoreCase, type StoreTest, uniqueId } from '@cairn/core/conformance'
import type { BranchId, SessionId } from '@cairn/protocol'
import { newLease } from '../leases/lease.ts'
import type { LeaseRecord, LeaseStore } from '../ports/lease-store.ts'

/** The contract of LeaseStore: one record a branch, moved on by one who saw the one before. */
export const leaseStoreCases: readonly StoreCase<LeaseStore>[] = casesOf((test) => {
  recordCases(test)
  raceCases(test)
  noteCases(test)
})

function noteCases(test: StoreTest<LeaseStore>): void {
  const inodes = { kind: 'inodes', value: '1+10' } as const
  const blob = { kind: 'blob', value: 'ab' } as const

  test('notes of a holder come back, each once, with those of narrowed ones and no others', async (store) => {
    const holder = uniqueId()
    await store.addNotes(holder, [inodes, blob], 1)
    await store.addNotes(holder, [inodes], 2)
    await store.addNotes(`${holder}~child`, [{ kind: 'inodes', value: '20+5' }], 1)
    await store.addNotes(`${holder}x`, [inodes], 1)
    const values = (await store.listNotes(holder)).map(({ value }) => value)
    expect(values.toSorted()).toEqual(['1+10', '20+5', 'ab'])
    expect(await store.listNotes(`${holder}~child`)).toEqual([{ kind: 'inodes', value: '20+5' }])
    const many = Array.from({ length: 1200 }, (_, at) => `none-${at}`)
    const wanted = [...many, blob.value]
    expect(await store.findNotes([holder, 'nobody'], 'blob', wanted)).toEqual([blob.value])
    expect(await store.findNotes([`${holder}~child`], 'blob', wanted)).toEqual([])
  })

  test('holders are listed in order, each once, page by page', async (store) => {
    const [a, b, c] = [uniqueId(), uniqueId(), uniqueId()].sort() as [string, string, string]
    for (const each of [c, a, b]) await store.addNotes(each, [inodes, blob], 1)
    expect((await store.listHolders(a, 1000)).filter((each) => [a, b, c].includes(each))).toEqual([
      b,
      c,
    ])
    expect((await store.listHolders(a, 1)).length).toBe(1)
    await store.removeNotes(b)
    expect((await store.listHolders(a, 1000)).includes(b)).toBe(false)
  })

  test('notes go with their holder, and those of blobs with their time', async (store) => {
    const [a, b] = [uniqueId(), uniqueId()]
    for (const each of [a, b]) await store.addNotes(each, [inodes, blob], 5)
    await store.removeNotes(a)
    expect(await store.listNotes(a)).toEqual([])
    await store.removeBlobNotes(5)
    expect((await store.listNotes(b)).length).toBe(2)
    await store.removeBlobNotes(6)
    expect(await store.listNotes(b)).toEqual([inodes])
  })
}

function recordCases(test: StoreTest<LeaseStore>): void {
  test('a branch without writes has none', async (store) => {
    expect(await store.get(uniqueId() as BranchId)).toBe(undefined)
  })

  test('a record comes back as it was put', async (store) => {
    const record = lease({
      holder: 'é' as SessionId,
      coHolders: ['b' as SessionId, '"\\\n' as SessionId],
      recalled: true,
      writers: [writer('é', Number.MAX_SAFE_INTEGER), writer('"\\\n', 0)],
      epoch: 2 ** 40,
      deadline: { ms: 1_800_000_000_000, lastMs: 1_800_000_600_000 },
    })
    expect(await store.put(record)).toBe(true)
    expect(await store.get(record.branch)).toEqual(record)
  })

  test('the next version replaces all of it', async (store) => {
    const first = lease({ holder: 'a' as SessionId, recalled: true, writers: [writer('a', 1)] })
    await store.put(first)
    const next = { ...newLease(first.branch), epoch: 9, version: 2 }
    expect(await store.put(next)).toBe(true)
    expect(await store.get(first.branch)).toEqual(next)
  })

  test('a hundred writers fit', async (store) => {
    const writers = Array.from({ length: 100 }, (_, i) => writer(`${uniqueId()}-${i}`, i))
    const record = lease({ writers })
    await store.put(record)
    expect((await store.get(record.branch))?.writers).toEqual(writers)
  })

  test('branches do not meet, nor do those that differ in a letter’s case', async (store) => {
    const [a, b] = [lease({ epoch: 1 }), lease({ epoch: 2 })]
    const upper = lease({ branch: a.branch.toUpperCase() as BranchId, epoch: 3 })
    for (const each of [a, b, upper]) expect(await store.put(each)).toBe(true)
    for (const each of [a, b, upper]) expect(await store.get(each.branch)).toEqual(each)
  })
}

function raceCases(test: StoreTest<LeaseStore>): void {
  test('the first version is written once', async (store) => {
    const record = lease({ epoch: 5 })
    expect(await store.put(record)).toBe(true)
    expect(await store.put({ ...record, epoch: 6 })).toBe(false)
    expect(await store.get(record.branch)).toEqual(record)
  })

  test('an older, a skipped and a repeated version change nothing', async (store) => {
    const record = lease({})
    await store.put(record)
    const second = { ...record, epoch: 2, version: 2 }
    await store.put(second)
    for (const version of [1, 2, 4, 100])
      expect([version, await store.put({ ...second, epoch: 7, version })]).toEqual([version, false])
    expect(await store.get(record.branch)).toEqual(second)
  })

  test('a later version of a branch that has none changes nothing', async (store) => {
    const record = lease({ version: 2 })
    expect(await store.put(record)).toBe(false)
    expect(await store.get(record.branch)).toBe(undefined)
  })

  test('of several that put the same version one wins, and it is the one that is there', async (store) => {
    const record = lease({})
    for (let version = 1; version <= 5; version++) {
      const rivals = Array.from({ length: 8 }, (_, i) => ({ ...record, epoch: 10 + i, version }))
      const won = await Promise.all(rivals.map((rival) => store.put(rival)))
      expect(won.filter(Boolean).length).toBe(1)
      expect(await store.get(record.branch)).toEqual(rivals[won.indexOf(true)])
    }
  })
}

function lease(fields: Partial<LeaseRecord>): LeaseRecord {
  return { ...newLease(`${uniqueId()}/main` as BranchId), version: 1, ...fields }
}

function writer(session: string, expiresAtMs: number): LeaseRecord['writers'][number] {
  return { session: session as SessionId, expiresAtMs }
}
