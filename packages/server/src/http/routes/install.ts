import { createReadStream } from 'node:fs'
import { stat } from 'node:fs/promises'
import { CairnError } from '@cairn/protocol'
import { serverRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance } from 'fastify'
import { adderOf } from '../add-routes.ts'
import type { ClientFiles } from '../client-files.ts'
import { installScript, installUrl } from '../install-script.ts'

/** Clients for other machines. They are no secret, and the script runs before there is a key. */
export function installRoutes(app: FastifyInstance, clients: ClientFiles): void {
  const add = adderOf(app, table)

  add('GET /install', { access: 'open' }, async ({ headers, protocol }, reply) => {
    // A proxy that speaks TLS says so. A client that says it of itself deceives only itself.
    const said = headers['x-forwarded-proto']
    const url = installUrl(said === 'https' ? said : protocol, headers.host)
    if (url === undefined)
      throw new CairnError('invalid_argument', {
        what: 'write the install script',
        reason: `'${String(headers.host).slice(0, 200)}' is no host`,
      })
    const files = await clients.list()
    if (files.length === 0) throw missing('a client')
    return reply.type('text/x-shellscript; charset=utf-8').send(installScript({ url, files }))
  })

  add('GET /install/:file', { access: 'open' }, async ({ params }, reply) => {
    const path = clients.findPath(params.file)
    const found = path === undefined ? undefined : await stat(path).catch(() => undefined)
    if (path === undefined || !found?.isFile()) throw missing(`the client ${params.file}`)
    void reply.header('content-length', found.size).type('application/octet-stream')
    return reply.send(createReadStream(path, { end: Math.max(found.size - 1, 0) }))
  })
}

function missing(client: string): CairnError {
  return new CairnError('not_found', {
    what: `hand out ${client}`,
    reason: 'this server has none',
    hint: 'Its owner can add some: cairn serve --client-dir DIR.',
  })
}
