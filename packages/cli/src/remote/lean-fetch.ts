import { type IncomingMessage, request as requestPlain } from 'node:http'

/**
 * `fetch`, as far as the SDK asks for it. Loading Node's own takes a quarter of the time of a short command, and what
 * it has more (cookies, caches, decoding) a server of ours never uses. Redirections and bodies other than text and
 * bytes are left to it.
 */
export const leanFetch: typeof fetch = async (input, init = {}) => {
  const { body } = init
  const isPlain = body === undefined || typeof body === 'string' || body instanceof Uint8Array
  if (!isPlain || (typeof input === 'object' && 'url' in input)) return fetch(input, init)
  const answer = await send(new URL(input), init, body)
  if (!isRedirection(answer)) return responseOf(answer)
  answer.destroy()
  return fetch(input, init)
}

function isRedirection({ statusCode = 0, headers }: IncomingMessage): boolean {
  return statusCode >= 300 && statusCode < 400 && headers.location !== undefined
}

function send(
  url: URL,
  { method = 'GET', headers, signal }: RequestInit,
  body: string | Uint8Array | undefined,
): Promise<IncomingMessage> {
  const request =
    url.protocol === 'https:' ? process.getBuiltinModule('node:https').request : requestPlain
  return new Promise((resolve, reject) => {
    const sent = request(url, { method, headers: headers as Record<string, string> })
    let abort = (): void => void sent.destroy(signal!.reason as Error)
    // Passed to the request, the signal would stay with its socket, and abort the next request that
    // uses it.
    signal?.addEventListener('abort', () => abort())
    if (signal?.aborted) abort()
    sent.once('response', (answer) => {
      // Without a reason: the request may have given its socket back already, where nothing would
      // handle the error.
      abort = () => void answer.destroy()
      answer.once('close', () => (abort = () => undefined))
      resolve(answer)
    })
    sent.on('error', reject)
    sent.end(body)
  })
}

/** What is read of one. */
function responseOf(answer: IncomingMessage): Response {
  const pieces = answer[Symbol.asyncIterator]() as AsyncIterator<Buffer>
  const read = async (): Promise<{ done: boolean; value: Uint8Array | undefined }> => {
    const { done = false, value } = await pieces.next()
    // No Buffer: what is cut out of that with `slice` is not a copy.
    return {
      done,
      value: done ? undefined : new Uint8Array(value.buffer, value.byteOffset, value.length),
    }
  }
  const get = (name: string): string | null => {
    const value = answer.headers[name]
    return value === undefined ? null : String(value)
  }
  const { statusCode: status = 0, statusMessage: statusText = '' } = answer
  const ok = status >= 200 && status < 300
  return {
    ok,
    status,
    statusText,
    headers: { get },
    body: { getReader: () => ({ read }) },
  } as unknown as Response
}
