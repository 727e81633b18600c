import { createReadStream, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/**
 * The yardstick, in a process of its own: `plain-child.ts FILE`. A plain server that writes a body to the file and syncs
 * it, and sends the file. Large buffers, so that it is as fast as Node gets with a few lines.
 */
const path = process.argv[2]!
const bufferBytes = 1 << 20

const server = createServer((request, response) => {
  const done = request.method === 'PUT' ? receive(request) : undefined
  if (done) {
    done.then(
      () => response.end(),
      () => response.destroy(),
    )
    return
  }
  response.setHeader('content-length', statSync(path).size)
  createReadStream(path, { highWaterMark: bufferBytes }).pipe(response)
})

async function receive(body: AsyncIterable<Uint8Array>): Promise<void> {
  const file = await open(path, 'w')
  try {
    let waiting: Uint8Array[] = []
    let bytes = 0
    for await (const chunk of body) {
      waiting.push(chunk)
      bytes += chunk.length
      if (bytes < bufferBytes) continue
      await file.writev(waiting)
      waiting = []
      bytes = 0
    }
    if (waiting.length > 0) await file.writev(waiting)
    await file.sync()
  } finally {
    await file.close()
  }
}

server.listen(0, '127.0.0.1', () =>
  process.send!(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`),
)
process.once('disconnect', () => {
  server.close()
  server.closeAllConnections()
})
