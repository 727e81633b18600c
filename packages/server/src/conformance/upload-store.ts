import { casesOf, expect, type StoreCase, type StoreTest, uniqueId } from '@cairn/core/conformance'
import type { Hash } from '@cairn/protocol'
import type { UploadedBlock, UploadStore } from '../ports/upload-store.ts'

/** The contract of UploadStore: uploads under way, and which of their blocks have arrived. */
export const uploadStoreCases: readonly StoreCase<UploadStore>[] = casesOf((test) => {
  lifeCases(test)
  blockCases(test)
  expiryCases(test)
})

function lifeCases(test: StoreTest<UploadStore>): void {
  test('an upload is there for its own workspace alone, from its creation to its removal', async (store) => {
    const [workspace, id] = [uniqueId(), uniqueId()]
    expect(await store.exists(workspace, id)).toBe(false)
    await store.create(workspace, id, 1)
    expect(await store.exists(workspace, id)).toBe(true)
    expect(await store.exists(uniqueId(), id)).toBe(false)
    expect(await store.exists(workspace, id.toUpperCase())).toBe(false)
    await store.remove(id)
    expect(await store.exists(workspace, id)).toBe(false)
  })

  test('removing one leaves the others; removing what is not there is fine', async (store) => {
    const workspace = uniqueId()
    const [gone, kept] = [await begin(store, workspace), await begin(store, workspace)]
    for (const id of [gone, kept]) await store.putBlock(id, block(0))
    await store.remove(gone)
    await store.remove(gone)
    expect(await store.blocks(gone)).toEqual([])
    expect(await store.exists(workspace, kept)).toBe(true)
    expect(await store.blocks(kept)).toEqual([block(0)])
  })
}

function blockCases(test: StoreTest<UploadStore>): void {
  test('blocks come back as they were put, in order of their numbers', async (store) => {
    const id = await begin(store)
    expect(await store.blocks(id)).toEqual([])
    const put = [block(10), block(2), zeros(0), block(1_000_000), zeros(9)]
    for (const each of put) await store.putBlock(id, each)
    const numbers = (await store.blocks(id)).map(({ number }) => number)
    expect(numbers).toEqual([0, 2, 9, 10, 1_000_000])
    expect(await store.blocks(id)).toEqual(put.toSorted((a, b) => a.number - b.number))
  })

  test('a block sent again: the newest counts, with bytes or with none', async (store) => {
    const id = await begin(store)
    for (const each of [block(3, 1), block(3, 2), zeros(3), block(3, 4)]) {
      await store.putBlock(id, each)
      expect(await store.blocks(id)).toEqual([each])
    }
  })

  test('blocks that arrive at once are all there', async (store) => {
    const id = await begin(store)
    const all = Array.from({ length: 40 }, (_, i) => block(i % 20))
    await Promise.all(all.map((each) => store.putBlock(id, each)))
    expect(await store.blocks(id)).toEqual(all.slice(0, 20))
  })

  test('a block of an upload that is not there, or no longer, is refused and not kept', async (store) => {
    const id = await begin(store)
    expect(await store.putBlock(id, block(0))).toBe(true)
    await store.remove(id)
    for (const gone of [id, uniqueId()]) {
      expect(await store.putBlock(gone, block(1))).toBe(false)
      expect(await store.blocks(gone)).toEqual([])
    }
  })

  test('blocks that arrive while the upload is removed leave nothing behind', async (store) => {
    const id = await begin(store)
    const putting = Array.from({ length: 10 }, (_, i) => store.putBlock(id, block(i)))
    await Promise.all([...putting, store.remove(id)])
    expect(await store.blocks(id)).toEqual([])
  })

  test('uploads do not see each other’s blocks', async (store) => {
    const [a, b] = [await begin(store), await begin(store)]
    await store.putBlock(a, block(0, 1))
    await store.putBlock(b, block(0, 2))
    expect(await store.blocks(a)).toEqual([block(0, 1)])
    expect(await store.blocks(b)).toEqual([block(0, 2)])
  })
}

function expiryCases(test: StoreTest<UploadStore>): void {
  test('what was begun before is forgotten with its blocks, in that workspace alone', async (store) => {
    const [workspace, other] = [uniqueId(), uniqueId()]
    const old = await begin(store, workspace, 99)
    const young = await begin(store, workspace, 100)
    const elsewhere = await begin(store, other, 1)
    await store.putBlock(old, block(0))
    await store.removeOlder(workspace, 100)
    expect(await store.exists(workspace, old)).toBe(false)
    expect(await store.blocks(old)).toEqual([])
    expect(await store.exists(workspace, young)).toBe(true)
    expect(await store.exists(other, elsewhere)).toBe(true)
  })

  test('two begun in the same millisecond are two', async (store) => {
    const workspace = uniqueId()
    const ids = [await begin(store, workspace, 7), await begin(store, workspace, 7)]
    for (const id of ids) expect(await store.exists(workspace, id)).toBe(true)
    await store.removeOlder(workspace, 8)
    for (const id of ids) expect(await store.exists(workspace, id)).toBe(false)
  })
}

async function begin(store: UploadStore, workspace = uniqueId(), createdAtMs = 1): Promise<string> {
  const id = uniqueId()
  await store.create(workspace, id, createdAtMs)
  return id
}

/** Every byte may stand in a hash. */
function block(number: number, salt = 0): UploadedBlock {
  const bytes = Array.from({ length: 32 }, (_, i) => (number + salt * 31 + i * 37) & 0xff)
  return { number, size: 4 << 20, blob: { id: String.fromCharCode(...bytes) as Hash, length: 17 } }
}

function zeros(number: number): UploadedBlock {
  return { number, size: 512, blob: undefined }
}
