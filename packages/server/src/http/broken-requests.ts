import { randomUUID } from 'node:crypto'
import { type ServerResponse, STATUS_CODES } from 'node:http'
import type { Socket } from 'node:net'
import { CairnError } from '@cairn/protocol'
import { toHttpError } from './errors.ts'
import { securityHeaders } from './security-headers.ts'

export const headerBytesMax: number = 16 * 1024

/** Answers what is no request, in the words of all other errors: it never gets as far as a route. */
export function answerBrokenRequest(error: NodeJS.ErrnoException, socket: Socket): void {
  // Node keeps the answer under way there. Once it has begun, another one would be taken for its content.
  const { _httpMessage: answer } = socket as Socket & { _httpMessage?: ServerResponse }
  if (error.code === 'ECONNRESET' || !socket.writable || answer?.headersSent)
    return void socket.destroy()
  const id = randomUUID()
  const { status, body } = toHttpError(refusalOf(error), id)
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status]}`,
    'content-type: application/json; charset=utf-8',
    `content-length: ${Buffer.byteLength(text)}`,
    `x-request-id: ${id}`,
    ...Object.entries(securityHeaders).map(([name, value]) => `${name}: ${value}`),
    'connection: close',
  ]
  // What is still unread would make the close a reset, which may overtake the answer.
  socket.resume()
  socket.end(`${head.join('\r\n')}\r\n\r\n${text}`)
  setTimeout(() => socket.destroy(), lingerMs).unref()
}

const lingerMs = 2000

function refusalOf({ code, message }: NodeJS.ErrnoException): CairnError {
  if (code === 'HPE_HEADER_OVERFLOW' || code === 'HPE_CHUNK_EXTENSIONS_OVERFLOW')
    return new CairnError('too_large', {
      what: 'read the request',
      reason: `its address and headers have more than ${headerBytesMax} bytes`,
    })
  if (code === 'ERR_HTTP_REQUEST_TIMEOUT')
    return new CairnError('too_slow', {
      what: 'read the request',
      reason: 'its headers stopped coming',
    })
  const why = message.replace(/^Parse Error: /, '')
  return new CairnError('malformed', { what: 'read the request', reason: why })
}
