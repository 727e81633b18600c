import { equalBytes, type ErrorCode, formatHash, type Hash } from '@cairn/protocol'
import { expect, expectCode } from './expect.ts'
import { casesOf, type StoreCase, uniqueHash } from './store-case.ts'

/** What the stores of nodes and of blobs have in common. */
export interface HashStore {
  get(hash: Hash): Promise<Uint8Array>
  put(things: ReadonlyMap<Hash, Uint8Array>): Promise<void>
}

export interface HashStoreFacts {
  /** What getting an absent one rejects with. */
  readonly missing: ErrorCode
  readonly bytesMax: number
}

export function hashStoreCases(facts: HashStoreFacts): readonly StoreCase<HashStore>[] {
  return casesOf((test) => {
    test('what was put is got', async (store) => {
      const hash = uniqueHash()
      await store.put(new Map([[hash, everyByte]]))
      expect(await store.get(hash)).toEqual(everyByte)
    })

    test(`what was never put is ${facts.missing}, and says which`, async (store) => {
      const hash = uniqueHash()
      await expectCode(store.get(hash), facts.missing, formatHash(hash))
    })

    test('what was missing is there once it is put', async (store) => {
      const hash = uniqueHash()
      await expectCode(store.get(hash), facts.missing, formatHash(hash))
      await store.put(new Map([[hash, everyByte]]))
      expect(await store.get(hash)).toEqual(everyByte)
    })

    test('putting nothing succeeds', async (store) => {
      await store.put(new Map())
    })

    test('putting it again succeeds, alone, among others and at once', async (store) => {
      const [hash, other] = [uniqueHash(), uniqueHash()]
      const things = new Map([[hash, everyByte]])
      await store.put(things)
      await store.put(things)
      await store.put(new Map([...things, [other, bytesOf(9, 100)]]))
      await Promise.all([store.put(things), store.put(things), store.put(things)])
      expect(await store.get(hash)).toEqual(everyByte)
      expect(await store.get(other)).toEqual(bytesOf(9, 100))
    })

    test('three hundred at once are all there', async (store) => {
      const things = new Map(
        Array.from({ length: 300 }, (_, i) => [uniqueHash(), bytesOf(i, 3000 + i)] as const),
      )
      await store.put(things)
      const got = await Promise.all([...things.keys()].map((hash) => store.get(hash)))
      expect(got).toEqual([...things.values()])
    })

    test('one byte and the largest come back whole', async (store) => {
      const things = new Map([
        [uniqueHash(), new Uint8Array(1)],
        [uniqueHash(), bytesOf(7, facts.bytesMax)],
      ])
      await store.put(things)
      for (const [hash, bytes] of things)
        expect(equalBytes(await store.get(hash), bytes)).toBe(true)
    })

    test('hashes are bytes: letter case, zeros and single bits tell them apart', async (store) => {
      const common = uniqueHash().slice(2)
      const starts = [
        '\0\0',
        '\0a',
        '\0A',
        'a\0',
        'A\0',
        '\u00e9A',
        '\u00c9A',
        '\xff\xff',
        '%_',
        "'\\",
      ]
      const things = new Map(starts.map((start, i) => [(start + common) as Hash, bytesOf(i, 50)]))
      await store.put(things)
      for (const [hash, bytes] of things) expect(await store.get(hash)).toEqual(bytes)
      const absent = ('\0b' + common) as Hash
      await expectCode(store.get(absent), facts.missing, formatHash(absent))
    })

    test('a part of a larger buffer is stored as that part', async (store) => {
      const hash = uniqueHash()
      await store.put(new Map([[hash, everyByte.subarray(10, 20)]]))
      expect(await store.get(hash)).toEqual(everyByte.slice(10, 20))
    })

    test('changing bytes after they were put or got changes nothing stored', async (store) => {
      const hash = uniqueHash()
      const given = everyByte.slice()
      await store.put(new Map([[hash, given]]))
      given.fill(1)
      const got = await store.get(hash)
      expect(got).toEqual(everyByte)
      got.fill(2)
      expect(await store.get(hash)).toEqual(everyByte)
    })
  })
}

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i)

function bytesOf(seed: number, length: number): Uint8Array {
  return Uint8Array.from({ length }, (_, i) => (seed * 31 + i * 7) & 0xff)
}
