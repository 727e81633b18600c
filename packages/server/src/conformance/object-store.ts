import {
  casesOf,
  expect,
  expectCode,
  type StoreCase,
  type StoreTest,
  uniqueId,
} from '@cairn/core/conformance'
import type { ObjectStore } from '../storage/object-store.ts'

/** The contract of ObjectStore. Every implementation passes it, and every decorator around one. */
export const objectStoreCases: readonly StoreCase<ObjectStore>[] = casesOf((test) => {
  objectCases(test)
  rangeCases(test)
  listCases(test)
})

type Test = StoreTest<ObjectStore>

function objectCases(test: Test): void {
  test('what was put is got: nothing, one byte, every byte, 1 MiB', async (store) => {
    for (const bytes of [new Uint8Array(), Uint8Array.of(0), everyByte, large]) {
      const key = uniqueKey()
      await store.put(key, bytes)
      expect(Buffer.compare(await store.get(key), bytes)).toBe(0)
    }
  })

  test('what was never put is blob_missing, with the key as subject', async (store) => {
    const key = uniqueKey()
    await expectCode(store.get(key), 'blob_missing', key)
    await expectCode(store.get(key, { start: 0, length: 1 }), 'blob_missing', key)
  })

  test('putting a key again succeeds, one after the other and at once', async (store) => {
    const key = uniqueKey()
    for (let i = 0; i < 2; i++) await store.put(key, everyByte)
    await Promise.all(Array.from({ length: 8 }, () => store.put(key, everyByte)))
    expect(await store.get(key)).toEqual(everyByte)
    expect((await keysUnder(store, folderOf(key))).length).toBe(1)
  })

  test('many at once are all there', async (store) => {
    const folder = uniqueId()
    const keys = Array.from({ length: 60 }, (_, i) => `${folder}/${i % 7}/${i}`)
    await Promise.all(keys.map((key, i) => store.put(key, Uint8Array.of(i))))
    const got = await Promise.all(keys.map((key) => store.get(key)))
    expect(got.map((bytes) => bytes[0])).toEqual(keys.map((_, i) => i))
  })

  test('a part of a larger buffer is stored as that part', async (store) => {
    const key = uniqueKey()
    await store.put(key, everyByte.subarray(10, 20))
    expect(await store.get(key)).toEqual(everyByte.slice(10, 20))
  })

  test('changing bytes after they were put or got changes nothing stored', async (store) => {
    const key = uniqueKey()
    const given = everyByte.slice()
    await store.put(key, given)
    given.fill(1)
    ;(await store.get(key)).fill(2)
    expect(await store.get(key)).toEqual(everyByte)
  })

  test('what was deleted is missing, and may be deleted and put again', async (store) => {
    const key = uniqueKey()
    await store.delete(key)
    await store.put(key, everyByte)
    await store.delete(key)
    await expectCode(store.get(key), 'blob_missing', key)
    await store.delete(key)
    await store.put(key, everyByte)
    expect(await store.get(key)).toEqual(everyByte)
  })

  test('keys that lead elsewhere are refused', async (store) => {
    const bad = [
      '',
      '/',
      '/a',
      'a/',
      'a//b',
      '..',
      'a/../b',
      './a',
      '.tmp/a',
      'a/.b',
      'a b',
      'ä',
      'a\0',
      'a\n',
    ]
    for (const key of [...bad, 'k'.repeat(513)]) {
      await expectCode(store.put(key, everyByte), 'malformed')
      await expectCode(store.get(key), 'malformed')
      await expectCode(store.delete(key), 'malformed')
    }
  })
}

function rangeCases(test: Test): void {
  const ranges = [
    { start: 0, length: 1 },
    { start: 0, length: 256 },
    { start: 10, length: 20 },
    { start: 255, length: 1 },
    { start: 250, length: 100 },
    { start: 256, length: 1 },
    { start: 1000, length: 10 },
  ]
  for (const { start, length } of ranges)
    test(`${length} bytes from ${start} of 256 are those that are there`, async (store) => {
      const key = uniqueKey()
      await store.put(key, everyByte)
      const got = await store.get(key, { start, length })
      expect(got).toEqual(everyByte.slice(start, start + length))
    })

  test('a range of an empty object is empty', async (store) => {
    const key = uniqueKey()
    await store.put(key, new Uint8Array())
    expect((await store.get(key, { start: 0, length: 5 })).length).toBe(0)
  })
}

function listCases(test: Test): void {
  test('a listing has each object below the prefix once, in order, with its size', async (store) => {
    const folder = uniqueId()
    const names = ['b/2', 'a', 'b-1', 'b.1', 'b/1', 'b/c/d', 'B', 'z', 'b0']
    for (const [i, name] of names.entries()) await store.put(`${folder}/${name}`, new Uint8Array(i))
    await store.put(`${folder}0/a`, everyByte)
    const found: [string, number][] = []
    for await (const { key, sizeBytes } of store.list(`${folder}/`)) found.push([key, sizeBytes])
    const expected = names.map((name, i): [string, number] => [`${folder}/${name}`, i])
    expect(found).toEqual(expected.sort(([a], [b]) => (a < b ? -1 : 1)))
    expect(await keysUnder(store, `${folder}/b/`)).toEqual(
      ['b/1', 'b/2', 'b/c/d'].map((name) => `${folder}/${name}`),
    )
  })

  test('a listing goes on after a key, also one that is not there', async (store) => {
    const folder = uniqueId()
    for (const name of ['a', 'b/1', 'b/2', 'c']) await store.put(`${folder}/${name}`, everyByte)
    const after = (name: string): Promise<string[]> =>
      keysUnder(store, `${folder}/`, `${folder}/${name}`)
    expect(await after('b/1')).toEqual([`${folder}/b/2`, `${folder}/c`])
    expect(await after('b')).toEqual([`${folder}/b/1`, `${folder}/b/2`, `${folder}/c`])
    expect(await after('c')).toEqual([])
  })

  test('an unknown prefix is empty, one without a slash is refused', async (store) => {
    expect(await keysUnder(store, `${uniqueId()}/`)).toEqual([])
    for (const prefix of ['a', '../', '/', '.tmp/'])
      await expectCode(keysUnder(store, prefix), 'malformed')
  })

  test('a listing that stopped early can be started again', async (store) => {
    const folder = uniqueId()
    for (let i = 0; i < 3; i++) await store.put(`${folder}/${i}`, everyByte)
    for await (const { key } of store.list(`${folder}/`)) {
      expect(key).toBe(`${folder}/0`)
      break
    }
    expect((await keysUnder(store, `${folder}/`)).length).toBe(3)
  })
}

export async function keysUnder(
  store: ObjectStore,
  prefix: string,
  after?: string,
): Promise<string[]> {
  const keys: string[] = []
  for await (const { key } of store.list(prefix, after)) keys.push(key)
  return keys
}

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i)
const large = Uint8Array.from({ length: 1 << 20 }, (_, i) => (i * 7) ^ (i >> 8))

function uniqueKey(): string {
  return `${uniqueId()}/object`
}

function folderOf(key: string): string {
  return key.slice(0, key.lastIndexOf('/') + 1)
}
