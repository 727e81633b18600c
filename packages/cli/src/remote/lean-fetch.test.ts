import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { afterEach, describe, expect, it } from 'vitest'
import { leanFetch } from './lean-fetch.ts'

describe('fetch without Node’s own', () => {
  let server: Server | undefined
  afterEach(() => server?.close().closeAllConnections())

  async function serve(listener: RequestListener): Promise<string> {
    server = createServer(listener).listen(0, '127.0.0.1')
    await once(server, 'listening')
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  }

  async function text({ body }: Response): Promise<string> {
    const reader = body!.getReader()
    const pieces: Uint8Array[] = []
    for (;;) {
      const { done, value } = await reader.read()
      if (done) return Buffer.concat(pieces).toString()
      pieces.push(value)
    }
  }

  it.for(['text', Buffer.from('bytes'), undefined])(
    'sends %o, and gives the answer',
    async (body) => {
      const url = await serve((request, response) => {
        const { method, headers } = request
        response.writeHead(201, 'Made', { etag: '"e"' })
        response.write([method, headers['x-a'], headers['content-length'], ''].join(' '))
        request.pipe(response)
      })
      const response = await leanFetch(url, {
        method: 'PUT',
        headers: { 'x-a': 'b' },
        ...(body !== undefined && { body }),
      })
      expect(response).toMatchObject({ ok: true, status: 201, statusText: 'Made' })
      expect([response.headers.get('etag'), response.headers.get('nothing')]).toEqual(['"e"', null])
      expect(await text(response)).toBe(`PUT b ${body?.length ?? 0} ${body?.toString() ?? ''}`)
    },
  )

  it('follows redirects', async () => {
    const url = await serve(({ url }, response) => {
      if (url === '/') response.writeHead(307, { location: '/there' })
      response.end(url)
    })
    expect(await text(await leanFetch(url))).toBe('/there')
  })

  it('a body that is a blob arrives', async () => {
    const url = await serve((request, response) => void request.pipe(response))
    const response = await leanFetch(url, { method: 'POST', body: new Blob(['in it']) })
    expect(await text(response)).toBe('in it')
  })

  it('a refused connection is named in the error', async () => {
    await expect(leanFetch('http://127.0.0.1:1')).rejects.toThrow('ECONNREFUSED')
  })

  it('an answer that breaks off is an error, not an end', async () => {
    const url = await serve((_, response) => {
      response.write('half', () => response.destroy())
    })
    await expect(leanFetch(url).then(text)).rejects.toThrow()
  })

  it('an abort after the end has no effect, also not on the next request of that connection', async () => {
    const url = await serve((_, response) => void response.end('all'))
    const late = new AbortController()
    const response = await leanFetch(url, { signal: late.signal })
    const { value } = await response.body!.getReader().read()
    late.abort()
    expect(Buffer.from(value!).toString()).toBe('all')
    expect(await text(await leanFetch(url))).toBe('all')
  })

  it('an abort ends the waiting for an answer, and for the rest of it', async () => {
    const [waiting, reading] = [new AbortController(), new AbortController()]
    const url = await serve(({ url: path }, response) => {
      if (path === '/silent') waiting.abort()
      else response.write('half')
    })
    await expect(leanFetch(`${url}/silent`, { signal: waiting.signal })).rejects.toThrow('aborted')
    const rest = text(await leanFetch(`${url}/half`, { signal: reading.signal }))
    reading.abort()
    await expect(rest).rejects.toThrow()
  })
})
