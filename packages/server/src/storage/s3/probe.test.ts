import { once } from 'node:events'
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http'
import { afterEach, describe, expect, it } from 'vitest'
import { expectCode } from '@cairn/core/conformance'
import { openS3, type S3ObjectStore } from './s3-object-store.ts'

type Answer = (request: IncomingMessage, response: ServerResponse) => void

/** Stores that are not up to it, played by a few lines each. */
describe('the probe refuses', () => {
  let server: Server | undefined
  afterEach(async () => {
    server?.closeAllConnections()
    server?.close()
  })

  const open = async (answer: Answer): Promise<S3ObjectStore> => {
    server = createServer((request, response) => {
      request.resume()
      request.on('end', () => answer(request, response))
    }).listen(0, '127.0.0.1')
    await once(server, 'listening')
    const address = server.address()
    if (typeof address !== 'object' || !address) throw new Error('a server without a port')
    return openS3({
      bucket: 'bucket',
      endpoint: `http://127.0.0.1:${address.port}`,
      region: 'us-east-1',
      prefix: '',
      credentials: { accessKeyId: 'a', secretAccessKey: 's' },
      timeoutMs: 5000,
    })
  }

  const unfit: Readonly<Record<string, [Answer, RegExp]>> = {
    'a store that overwrites': [
      (_, response) => response.end(),
      /Use a store with conditional PUT/,
    ],
    'a store without conditions': [
      (_, response) => respond(response, 501, 'NotImplemented'),
      /has no conditional PUT/,
    ],
    'a store that gives other bytes than asked for': [
      takeOnce((_, response) => response.end('first')),
      /gives other bytes than the range/,
    ],
    'a key that may not write': [
      (_, response) => respond(response, 403, 'AccessDenied'),
      /Allow it PUT, GET, DELETE and LIST/,
    ],
  }
  for (const [what, [answer, words]] of Object.entries(unfit))
    it(`${what}, and says what to do`, async () => {
      const opening = open(answer)
      await expectCode(opening, 'storage_misconfigured')
      await expect(opening).rejects.toThrow(words)
    })

  it('nothing of a store that is only out of order: that may be fixed by itself', async () => {
    await expectCode(
      open((_, response) => respond(response, 500, 'InternalError')),
      'storage_unavailable',
    )
  })
})

/** Takes a key once, as it should; `get` answers what is asked afterwards. */
function takeOnce(get: Answer): Answer {
  let taken = false
  return (request, response) => {
    if (request.method !== 'PUT') return get(request, response)
    if (taken) return respond(response, 412, 'PreconditionFailed')
    taken = true
    response.end()
  }
}

function respond(response: ServerResponse, status: number, code: string): void {
  response.writeHead(status, { 'content-type': 'application/xml' })
  response.end(`<Error><Code>${code}</Code><Message>on purpose</Message></Error>`)
}
