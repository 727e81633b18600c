import { connect } from 'node:net'

/** An HTTP answer, read from the bytes of its connection. */
export interface RawAnswer {
  readonly status: number
  readonly headers: ReadonlyMap<string, string>
  readonly body: Buffer
}

export interface RawRequest {
  /** Written one after the other. */
  readonly parts: readonly Buffer[]
  /** What happens after the last part: wait for the answer, say that no more comes, or go. */
  readonly end: 'wait' | 'half-close' | 'reset'
}

/** So long may a server be silent; what hangs longer hangs for ever. */
const patienceMs = 20_000

/**
 * Sends bytes that need not be a request and gives the answer; undefined when the connection ended without one.
 * Fetch would fix or refuse most of what is sent here.
 */
export function sendRaw(port: number, { parts, end }: RawRequest): Promise<RawAnswer | undefined> {
  return new Promise((resolve, reject) => {
    const socket = connect(port, '127.0.0.1')
    const chunks: Buffer[] = []
    const finish = (): void => {
      socket.destroy()
      resolve(parseAnswer(Buffer.concat(chunks), true))
    }
    socket.setTimeout(patienceMs, () => {
      socket.destroy()
      reject(new Error(`no answer to ${JSON.stringify(Buffer.concat(parts).toString('latin1'))}`))
    })
    socket.on('data', (chunk) => {
      chunks.push(chunk)
      if (parseAnswer(Buffer.concat(chunks), false)) finish()
    })
    // A server that refuses a request may reset what it did not read.
    socket.on('error', finish)
    socket.on('end', finish)
    socket.on('close', finish)
    for (const part of parts) socket.write(part)
    if (end === 'half-close') socket.end()
    if (end === 'reset') socket.write('', () => socket.resetAndDestroy())
  })
}

/** Undefined as long as it is not whole; with `ended`, the end of the connection ends it too. */
function parseAnswer(bytes: Buffer, ended: boolean): RawAnswer | undefined {
  const end = bytes.indexOf('\r\n\r\n')
  if (end < 0) return undefined
  const [first = '', ...lines] = bytes.subarray(0, end).toString('latin1').split('\r\n')
  const status = Number(/^HTTP\/1\.1 (\d{3})/.exec(first)?.[1])
  if (status === 100) return parseAnswer(bytes.subarray(end + 4), ended)
  const headers = new Map(
    lines.map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()]
    }),
  )
  const rest = bytes.subarray(end + 4)
  const length = Number(headers.get('content-length') ?? NaN)
  if (rest.length >= length) return { status, headers, body: rest.subarray(0, length) }
  // One that never ends.
  if (headers.get('content-type') === 'text/event-stream') return { status, headers, body: rest }
  const isChunked = headers.get('transfer-encoding') === 'chunked'
  if (isChunked && rest.includes('0\r\n\r\n')) return { status, headers, body: rest }
  return ended ? { status, headers, body: rest } : undefined
}
