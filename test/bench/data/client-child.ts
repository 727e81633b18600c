import { open } from 'node:fs/promises'
import { connect } from 'node:net'
import { pipeline } from 'node:stream/promises'
import { Readable } from 'node:stream'

/**
 * Sends or fetches one file over a bare socket: `client-child.ts put|get URL KEY FILE`. It does less than any HTTP library, so
 * that the server is what is measured. Prints the seconds, its own CPU seconds and the bytes as JSON.
 */
const [how, address, key, path] = process.argv.slice(2) as [string, string, string, string]
const url = new URL(address)
const bufferBytes = 1 << 20

const begin = performance.now()
const beginCpu = process.cpuUsage()
const bytes = how === 'put' ? await put() : await get()
const { user, system } = process.cpuUsage(beginCpu)
const seconds = (performance.now() - begin) / 1000
console.log(JSON.stringify({ seconds, cpu: (user + system) / 1e6, bytes }))

function head(length: number): string {
  const method = how === 'put' ? 'PUT' : 'GET'
  const lines = [
    `${method} ${url.pathname}${url.search} HTTP/1.1`,
    `Host: ${url.host}`,
    `Authorization: Bearer ${key}`,
    'Connection: close',
    ...(how === 'put' ? [`Content-Length: ${length}`] : []),
  ]
  return `${lines.join('\r\n')}\r\n\r\n`
}

async function put(): Promise<number> {
  const file = await open(path)
  const { size } = await file.stat()
  const socket = connect(Number(url.port), url.hostname)
  const answer = Readable.from(socket).toArray() as Promise<Buffer[]>
  socket.write(head(size))
  await pipeline(file.createReadStream({ highWaterMark: bufferBytes }), socket, { end: false })
  requireSuccess(Buffer.concat(await answer))
  return size
}

/** Into the same buffer again and again: nothing is kept. */
function get(): Promise<number> {
  const { promise, resolve, reject } = Promise.withResolvers<number>()
  let received = 0
  let headBytes = 0
  const socket = connect({
    port: Number(url.port),
    host: url.hostname,
    onread: {
      buffer: Buffer.alloc(bufferBytes),
      callback: (count, buffer) => {
        if (received === 0) headBytes = headLength(Buffer.from(buffer.subarray(0, count)))
        received += count
        return true
      },
    },
  })
  socket.once('error', reject)
  socket.once('close', () => resolve(received - headBytes))
  socket.write(head(0))
  return promise
}

function headLength(answer: Buffer): number {
  requireSuccess(answer)
  return answer.indexOf('\r\n\r\n') + 4
}

function requireSuccess(answer: Buffer): void {
  const line = answer.toString('latin1', 0, 64).split('\r\n')[0]!
  if (!line.startsWith('HTTP/1.1 2')) throw new Error(`the server answered ${line}`)
}
