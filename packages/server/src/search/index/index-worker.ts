// The thread that makes signatures and looks at them. Like that of searches, it imports nothing by a package's name.
import { parentPort } from 'node:worker_threads'
import type { IndexMessage, IndexReply, IndexRequest } from './index-messages.ts'
import { SegmentCache } from './segment-cache.ts'
import { StoredIndex } from './stored-index.ts'
import { lowerPriority } from '../thread-priority.ts'

lowerPriority(15)

/** As many signatures stay in memory as a gigabyte of text has. */
const cacheBytes = 256 << 20

const port = parentPort!
const cache = new SegmentCache(cacheBytes)
const indexes = new Map<string, StoredIndex>()

port.on('message', ({ job, directory, request }: IndexMessage) => {
  port.postMessage(answer(job, directory, request))
})

function answer(job: number, directory: string, request: IndexRequest): IndexReply {
  try {
    const index = indexes.get(directory) ?? new StoredIndex(directory, cache)
    indexes.set(directory, index)
    const bytes = run(index, request)
    return bytes ? { job, type: 'bytes', bytes } : { job, type: 'status', ...index.status }
  } catch (error) {
    return { job, type: 'failed', reason: error instanceof Error ? error.message : String(error) }
  }
}

function run(index: StoredIndex, request: IndexRequest): Uint8Array | undefined {
  switch (request.type) {
    case 'missing':
      return index.missing(request.keys)
    case 'select':
      return index.select(request.keys, request.clauses, request.isText)
    case 'add':
      index.add(request.contents)
      return undefined
    case 'keep':
      index.keep(request.keys)
      return undefined
    case 'remove':
      index.remove()
      return undefined
    case 'status':
      return undefined
  }
}
