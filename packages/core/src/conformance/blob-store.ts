import type { Hash } from '@cairn/protocol'
import { blobBytesMax } from '../content/blobs.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { hashStoreCases } from './hash-store.ts'
import { expect } from './expect.ts'
import { casesOf, type StoreCase, uniqueHash } from './store-case.ts'

/** Form and length stand before the bytes. */
const headerBytesMax = 8

const timeMs = 1_790_000_000_000
const nowMs = (): number => timeMs

/** One that goes into a row, and one that may be an object. */
function someBlobs(): Map<Hash, Uint8Array> {
  return new Map([
    [uniqueHash(), new Uint8Array(10).fill(1)],
    [uniqueHash(), new Uint8Array(100_000).fill(2)],
  ])
}

/** The contract of BlobStore. Every implementation passes it, and every decorator around one. */
export const blobStoreCases: readonly StoreCase<BlobStore>[] = [
  ...hashStoreCases({ missing: 'blob_missing', bytesMax: blobBytesMax + headerBytesMax }),
  ...casesOf<BlobStore>((test) => {
    test('touching tells which are stored, small and large', async (store) => {
      const [small, large, absent] = [uniqueHash(), uniqueHash(), uniqueHash()]
      await store.put(
        new Map([
          [small, new Uint8Array(10)],
          [large, new Uint8Array(blobBytesMax)],
        ]),
      )
      expect(await store.touch([small, absent, large])).toEqual(new Set([small, large]))
      expect(await store.touch([])).toEqual(new Set())
    })

    test('a draft that is dropped is gone, small and large; one that is kept stays', async (store) => {
      const [dropped, kept] = [someBlobs(), someBlobs()]
      const [first, second] = [store.draft(nowMs), store.draft(nowMs)]
      await first.put(dropped)
      await second.put(kept)
      for (const [id, bytes] of [...dropped, ...kept]) expect(await store.get(id)).toEqual(bytes)
      await second.keep()
      await first.drop()
      await second.drop()
      expect(await store.touch([...dropped.keys()])).toEqual(new Set())
      expect(await store.touch([...kept.keys()])).toEqual(new Set(kept.keys()))
    })

    test('a draft takes nothing away that was there before, or that others have used since', async (store) => {
      const [before, put, touched, drafted] = [someBlobs(), someBlobs(), someBlobs(), someBlobs()]
      const all = new Map([...before, ...put, ...touched, ...drafted])
      await store.put(before)
      const [draft, other] = [store.draft(nowMs), store.draft(nowMs)]
      await draft.put(all)
      // A block that a file holds twice is put twice.
      await draft.put(all)
      await store.put(put)
      await store.touch([...touched.keys()])
      await other.put(drafted)
      await draft.drop()
      for (const [id, bytes] of all) expect(await store.get(id)).toEqual(bytes)
    })

    test('what a draft dropped can be put again', async (store) => {
      const blobs = someBlobs()
      const draft = store.draft(nowMs)
      await draft.put(blobs)
      await draft.drop()
      await store.put(blobs)
      for (const [id, bytes] of blobs) expect(await store.get(id)).toEqual(bytes)
    })

    test('of drafts that race for the same blobs, those that are kept have all of theirs', async (store) => {
      for (let round = 0; round < 5; round++) {
        const shared = Array.from({ length: 6 }, someBlobs)
        await Promise.all(
          Array.from({ length: 12 }, async (_, i) => {
            const draft = store.draft(() => timeMs + (i % 3) * 3_600_000)
            const own = new Map([0, 1, 2].flatMap((n) => [...shared[(i + n * round) % 6]!]))
            await draft.put(own)
            if (i % 2 === 0) return draft.drop()
            await draft.keep()
            for (const [id, bytes] of own) expect(await store.get(id)).toEqual(bytes)
          }),
        )
        const wanted = shared.flatMap((blobs) => [...blobs.keys()])
        for (const id of await store.touch(wanted)) await store.get(id)
      }
    })
  }),
]
