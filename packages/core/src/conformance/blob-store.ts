import { blobBytesMax } from '../content/blobs.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { hashStoreCases } from './hash-store.ts'
import { expect } from './expect.ts'
import { casesOf, type StoreCase, uniqueHash } from './store-case.ts'

/** Form and length stand before the bytes. */
const headerBytesMax = 8

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
  }),
]
