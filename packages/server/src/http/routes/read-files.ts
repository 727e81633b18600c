import { Readable } from 'node:stream'
import { type Extent, requireOnInode, resolvePath, superuser } from '@cairn/core'
import {
  type AccessOperation,
  accessOperations,
  type ByteString,
  type FileStat,
  FsError,
  type Ino,
} from '@cairn/protocol'
import { fileRoutes } from '@cairn/protocol/routes'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { planRead, streamExtents } from '../../files/send.ts'
import { statOf } from '../../files/stat.ts'
import type { WorkspaceKeeper } from '../../workspaces/workspace-keeper.ts'
import { type RequestOf, schemaOf } from '../add-routes.ts'
import { sendArchive } from '../archive-requests.ts'
import { openTarget, readTarget, type Target } from '../context.ts'
import { listPage, sendWalk } from '../listing.ts'
import { parseRange } from '../range.ts'
import { pathOfRequest } from '../raw-path.ts'
import { isOn } from '../flag.ts'
import { historyPage } from './log.ts'

const route = fileRoutes['GET /v1/workspaces/:workspace/files']
type FileQuery = RequestOf<typeof route>['query']

const pageDefault = 100
export function readFileRoutes(app: FastifyInstance, workspaces: WorkspaceKeeper): void {
  app.route<{ Querystring: FileQuery }>({
    method: ['GET', 'HEAD'],
    url: '/v1/workspaces/:workspace/files',
    exposeHeadRoute: false,
    config: { access: accessOperations, route },
    schema: schemaOf(route),
    handler: async (request, reply) => {
      const target = await openTarget(workspaces, request)
      const path = pathOfRequest(request.raw)
      const { stat, list, history, recursive, cursor, limit } = request.query
      const page = { limit: limit ?? pageDefault, ...(cursor === undefined ? {} : { cursor }) }
      if (isOn(stat)) return (await find(target, path, request.query)).stat
      const isWhole = isOn(recursive) && cursor === undefined && limit === undefined
      if (isOn(list) && isWhole) return sendWalk(reply, target, path)
      if (isOn(list)) return listPage(target, path, { ...page, recursive: isOn(recursive) })
      if (isOn(history)) return historyPage(target, path, page)
      if (request.query.archive !== undefined)
        return sendArchive(reply, target, path, request.query.archive)
      return sendFile(request, reply, target, path)
    },
  })
}

interface Found {
  readonly ino: Ino
  readonly stat: FileStat
  /** The bytes asked for, as they are at this moment. */
  readonly plan: (start: number, end: number) => readonly Extent[]
}

function find(
  target: Target,
  path: ByteString,
  query: FileQuery,
  operation?: AccessOperation,
): Promise<Found> {
  const { scope } = target.asker
  return readTarget(target, (view) => {
    const follow = query.follow !== 'false'
    const { dentry } = resolvePath(view, path, { who: superuser, follow })
    if (!dentry) throw new FsError('ENOENT')
    const { ino } = dentry
    if (scope && operation) requireOnInode(view, scope.grant, operation, ino)
    const inode = view.inode(ino)!
    const plan = (start: number, end: number): readonly Extent[] =>
      planRead(view, ino, inode, start, end)
    return { ino, stat: statOf(view, ino, inode), plan }
  })
}

async function sendFile(
  request: FastifyRequest<{ Querystring: FileQuery }>,
  reply: FastifyReply,
  target: Target,
  path: ByteString,
): Promise<unknown> {
  const { stat, plan } = await find(target, path, request.query, 'read')
  const isHead = request.method === 'HEAD'
  if (!isHead && stat.kind !== 'file')
    throw new FsError(stat.kind === 'directory' ? 'EISDIR' : 'EINVAL')
  void reply.header('etag', stat.etag).header('accept-ranges', 'bytes')
  void reply.header(
    'last-modified',
    new Date(Number(BigInt(stat.mtimeNs) / 1_000_000n)).toUTCString(),
  )
  void reply.header('cairn-stat', encodeURIComponent(JSON.stringify(stat)))
  if (request.headers['if-none-match'] === stat.etag) return reply.code(304).send()
  const range = parseRange(request.headers.range, stat.size)
  if (range === 'unsatisfiable')
    return reply.code(416).header('content-range', `bytes */${stat.size}`).send()
  const { start, end } = range ?? { start: 0, end: stat.size }
  if (range) void reply.code(206).header('content-range', `bytes ${start}-${end - 1}/${stat.size}`)
  void reply.header('content-length', end - start).type('application/octet-stream')
  if (isHead) return reply.send()
  const { stores } = target.workspace
  const extents = await stores.nodes.read(() => plan(start, end))
  return reply.send(Readable.from(streamExtents(extents, stores.blobs), { objectMode: false }))
}
