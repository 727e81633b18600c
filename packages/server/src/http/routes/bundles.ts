import { Readable } from 'node:stream'
import { bundleRoutes as table } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { readEarlier } from '../../bundle/earlier-bundle.ts'
import { importBundles } from '../../bundle/import-bundles.ts'
import { type EarlierBundle, writeBundle } from '../../bundle/write-bundle.ts'
import type { JournalKeeper } from '../../journal/journal-keeper.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { adderOf } from '../add-routes.ts'
import { bodyOf, openWorkspace, ownerOf } from '../context.ts'

/** Workspaces as files. All of a workspace is in one, so it takes an owner's key. */
export function bundleRoutes(
  app: FastifyInstance,
  workspaces: WorkspaceKeeper,
  journals: JournalKeeper | undefined,
): void {
  const add = adderOf(app, table)

  const send = async (
    request: FastifyRequest,
    reply: FastifyReply,
    earlier: EarlierBundle | undefined,
  ): Promise<FastifyReply> => {
    const workspace = await openWorkspace(workspaces, request)
    void reply.type('application/vnd.cairn.bundle')
    const bundle = await writeBundle(workspace, { earlier, journals })
    return reply.send(Readable.from(bundle, { objectMode: false }))
  }

  add('GET /v1/workspaces/:workspace/bundle', { access: 'owner' }, (request, reply) =>
    send(request, reply, undefined),
  )

  add('POST /v1/workspaces/:workspace/bundle', { access: 'owner' }, async (request, reply) =>
    send(request, reply, await readEarlier(bodyOf(request) ?? Readable.from([]))),
  )

  add('POST /v1/bundles', { access: 'owner' }, async (request, reply) => {
    const [owner, { name }] = [ownerOf(request), request.query]
    const body = bodyOf(request) ?? Readable.from([])
    const info = await workspaces.adopt((parts) => importBundles(body, { owner, name, ...parts }))
    void reply.code(201)
    return info
  })
}
