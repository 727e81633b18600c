import { blobBytesMax } from '../content/blobs.ts'
import type { BlobStore } from '../ports/blob-store.ts'
import { runHashStoreTests } from './hash-store-tests.ts'
import type { StoreSetup } from './store-test.ts'

/** Form and length stand before the bytes. */
const headerBytesMax = 8

/** The contract of BlobStore. Every implementation passes it, and every decorator around one. */
export function runBlobStoreTests(setup: StoreSetup<BlobStore>): void {
  runHashStoreTests(setup, { missing: 'blob_missing', bytesMax: blobBytesMax + headerBytesMax })
}
