import { Blobs, Nodes, ScratchStore } from '@cairn/core'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { malformed } from './records.ts'
import { type BundleContents, type BundleTarget, receiveBundles } from './receive-bundles.ts'

/** Checks bundles as an import does, and stores nothing. It keeps the nodes of the trees in memory. */
export function verifyBundles(
  body: AsyncIterable<Uint8Array>,
  putJournal?: BundleTarget['putJournal'],
): Promise<BundleContents> {
  const store = new ScratchStore({
    get: () => Promise.reject(malformed('it lacks a node of a tree')),
  })
  const nodes = new Nodes({ store, hash: sha256, cacheBytesMax: 1 << 20 })
  const blobs = new Blobs(store, contentWorker)
  return receiveBundles(body, {
    nodes: () => nodes,
    blobs: () => blobs,
    begin: async () => {},
    putRows: async () => {},
    putBlobs: async () => {},
    ...(putJournal && { putJournal }),
  })
}
