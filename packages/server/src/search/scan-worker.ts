// The thread that searches. It imports nothing by a package's name: a worker thread is started by Node alone, which knows
// no `source` condition unless told.
import { parentPort } from 'node:worker_threads'
import { PatternError } from './pattern/ast.ts'
import { piecesOf } from './piece-columns.ts'
import type { ScanReply, ScanRequest } from './scan-messages.ts'
import { Searching } from './scan/searching.ts'
import { lowerPriority } from './thread-priority.ts'

lowerPriority(5)

const port = parentPort!
const searches = new Map<number, Searching>()

port.on('message', (request: ScanRequest) => {
  const { search } = request
  if (request.type === 'close') searches.delete(search)
  else if (request.type === 'open') reply(open(request))
  else {
    const scanned = searches.get(search)!.scan(piecesOf(request.pieces), request)
    reply({ type: 'scanned', search, job: request.job, ...scanned })
  }
})

function open({ search, spec }: Extract<ScanRequest, { type: 'open' }>): ScanReply {
  try {
    const searching = new Searching(spec)
    searches.set(search, searching)
    const { engine, needs } = searching.pattern
    return { type: 'opened', search, engine, needs }
  } catch (error) {
    if (error instanceof PatternError) return { type: 'refused', search, reason: error.message }
    throw error
  }
}

function reply(message: ScanReply): void {
  port.postMessage(message)
}
