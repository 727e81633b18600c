import { Readable } from 'node:stream'
import type { ByteString, FileEntry, Page } from '@cairn/protocol'
import type { FastifyReply } from 'fastify'
import { entryOf } from '../files/stat.ts'
import { findDirectory, readWalkCursor, walkFrom, writeWalkCursor } from '../files/walk.ts'
import { readTarget, type Target } from './context.ts'

export interface ListQuery {
  readonly recursive: boolean
  readonly cursor?: string
  readonly limit: number
}

const streamedAtOnce = 100
/** How many are read at one moment of the branch: about 1 ms. */
const readAtOnce = 100

/**
 * Entries of a directory in byte order of names; with `recursive`, all that is below it, parents before children. Others
 * have their turn between the parts of a long page. So it is of several moments, as several pages are.
 */
export async function listPage(
  target: Target,
  path: ByteString,
  { recursive, cursor, limit }: ListQuery,
): Promise<Page<FileEntry>> {
  const { pacer } = target.workspace.stores.nodes
  const items: FileEntry[] = []
  for (let from = cursor; ;) {
    if (pacer.isDue()) await pacer.rest()
    const count = Math.min(readAtOnce, limit - items.length)
    const part = await readPart(target, path, {
      recursive,
      limit: count,
      ...(from === undefined ? {} : { cursor: from }),
    })
    items.push(...part.items)
    from = part.next
    if (from === undefined) return { items }
    if (items.length === limit) return { items, next: from }
  }
}

function readPart(
  target: Target,
  path: ByteString,
  { recursive, cursor, limit }: ListQuery,
): Promise<Page<FileEntry>> {
  const after = cursor === undefined ? [] : readWalkCursor(cursor, recursive)
  const { scope } = target.asker
  return readTarget(target, (view) => {
    const { ino, names } = findDirectory(view, path, scope?.grant)
    const met = recursive
      ? walkFrom(view, ino, after, limit + 1)
      : view
          .entries(ino, after[0], limit + 1)
          .map((entry) => ({ ino: entry.ino, path: [entry.name] }))
    const items = met
      .slice(0, limit)
      .map(({ ino, path }) => entryOf(view, ino, view.inode(ino)!, [...names, ...path]))
    return met.length > limit ? { items, next: writeWalkCursor(met[limit - 1]!.path) } : { items }
  })
}

/** The whole walk as lines of JSON: a tree of any size takes little memory. */
export async function sendWalk(
  reply: FastifyReply,
  target: Target,
  path: ByteString,
): Promise<unknown> {
  const query = { recursive: true, limit: streamedAtOnce }
  // What is wrong with the path is told by the status, so it must be known before anything is sent.
  const first = await listPage(target, path, query)
  void reply.type('application/x-ndjson')
  return reply.send(Readable.from(walkLines(target, path, first)))
}

async function* walkLines(
  target: Target,
  path: ByteString,
  first: Page<FileEntry>,
): AsyncGenerator<string> {
  for (let page = first; ;) {
    yield page.items.map((entry) => `${JSON.stringify(entry)}\n`).join('')
    if (page.next === undefined) return
    const query = { recursive: true, limit: streamedAtOnce, cursor: page.next }
    page = await listPage(target, path, query)
  }
}
