import { Readable } from 'node:stream'
import { type Extent, pathOf, resolvePath } from '@cairn/core'
import {
  type ByteString,
  type FileEntry,
  type FileStat,
  FsError,
  type Ino,
  type Name,
  type Page,
} from '@cairn/protocol'
import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import { planRead, sendExtents } from '../../files/send.ts'
import { entryOf, statOf } from '../../files/stat.ts'
import type { Workspaces } from '../../workspaces/workspaces.ts'
import { openTarget, type Target } from '../context.ts'
import { parseRange } from '../range.ts'
import { pathOfRequest } from '../raw-path.ts'
import {
  branchQuery,
  flagSchema,
  isOn,
  limitSchema,
  objectSchema,
  workspaceParams,
} from '../schema.ts'
import { historyPage } from './log.ts'

export interface FileQuery {
  readonly stat?: string
  readonly list?: string
  readonly history?: string
  readonly recursive?: string
  readonly follow?: string
  readonly cursor?: string
  readonly limit: number
}

const superuser = { uid: 0, gid: 0, groups: [] }

export function readFileRoutes(app: FastifyInstance, workspaces: Workspaces): void {
  app.route<{ Querystring: FileQuery }>({
    method: ['GET', 'HEAD'],
    url: '/v1/workspaces/:workspace/files',
    exposeHeadRoute: false,
    schema: {
      summary: 'Read a file; with ?stat, ?list or ?history, what is known of a path',
      params: workspaceParams,
      querystring: objectSchema({
        ...branchQuery,
        stat: flagSchema,
        list: flagSchema,
        history: flagSchema,
        recursive: flagSchema,
        follow: flagSchema,
        cursor: { type: 'string', maxLength: 1024 },
        limit: limitSchema,
      }),
    },
    handler: async (request, reply) => {
      const target = await openTarget(workspaces, request)
      const path = pathOfRequest(request.raw)
      const { stat, list, history, recursive } = request.query
      if (isOn(stat)) return (await find(target, path, request.query)).stat
      if (isOn(list) && isOn(recursive)) return sendWalk(reply, target, path)
      if (isOn(list)) return listPage(target, path, request.query)
      if (isOn(history)) return historyPage(target, path, request.query)
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

function find({ workspace, branch }: Target, path: ByteString, query: FileQuery): Promise<Found> {
  return workspace.read(branch, (view) => {
    const follow = query.follow !== 'false'
    const { dentry } = resolvePath(view, path, { who: superuser, follow })
    if (!dentry) throw new FsError('ENOENT')
    const { ino } = dentry
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
  const { stat, plan } = await find(target, path, request.query)
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
  return reply.send(Readable.from(sendExtents(extents, stores.blobs), { objectMode: false }))
}

async function listPage(
  { workspace, branch }: Target,
  path: ByteString,
  { cursor, limit }: FileQuery,
): Promise<Page<FileEntry>> {
  const after =
    cursor === undefined ? undefined : (Buffer.from(cursor, 'base64url').toString('latin1') as Name)
  return workspace.read(branch, (view) => {
    const { dentry } = resolvePath(view, path, { who: superuser, follow: true })
    if (!dentry) throw new FsError('ENOENT')
    if (dentry.kind !== 'directory') throw new FsError('ENOTDIR')
    const parent = pathOf(view, dentry.ino)!
    const entries = view.entries(dentry.ino, after, limit + 1)
    const items = entries
      .slice(0, limit)
      .map(({ name, ino }) => entryOf(view, ino, view.inode(ino)!, [...parent, name]))
    const last = entries[limit - 1]?.name
    if (entries.length <= limit || last === undefined) return { items }
    return { items, next: Buffer.from(last, 'latin1').toString('base64url') }
  })
}

async function sendWalk(reply: FastifyReply, target: Target, path: ByteString): Promise<unknown> {
  const first = await listPage(target, path, { limit: walkPage })
  void reply.type('application/x-ndjson')
  return reply.send(Readable.from(walk(target, path, first)))
}

const walkPage = 500

/** Parents before children, page by page: a tree of any size takes little memory. */
async function* walk(
  target: Target,
  path: ByteString,
  first: Page<FileEntry>,
): AsyncGenerator<string> {
  for (let page = first; ;) {
    for (const entry of page.items) {
      yield `${JSON.stringify(entry)}\n`
      if (entry.kind === 'directory') yield* walkChild(target, path, entry)
    }
    if (page.next === undefined) return
    page = await listPage(target, path, { limit: walkPage, cursor: page.next })
  }
}

async function* walkChild(
  target: Target,
  path: ByteString,
  entry: FileEntry,
): AsyncGenerator<string> {
  const name =
    entry.nameBytes === undefined
      ? Buffer.from(entry.name).toString('latin1')
      : Buffer.from(entry.nameBytes, 'base64').toString('latin1')
  const below = path === '/' ? `/${name}` : `${path}/${name}`
  const first = await listOrNothing(target, below)
  if (first) yield* walk(target, below, first)
}

/** A directory that went away while its parent was being sent is no longer news. */
async function listOrNothing(
  target: Target,
  path: ByteString,
): Promise<Page<FileEntry> | undefined> {
  try {
    return await listPage(target, path, { limit: walkPage })
  } catch (error) {
    if (error instanceof FsError && (error.code === 'ENOENT' || error.code === 'ENOTDIR'))
      return undefined
    throw error
  }
}
