import type { FileEntry, Page } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { readLines } from '../client/lines.ts'
import type { FilePath } from '../client/path.ts'
import type { Call } from '../client/request.ts'

/** What a listing gives. */
export interface ListedEntry extends FileEntry {
  /** Present when the path is not UTF-8: give this, not `path`, to the methods. */
  readonly pathBytes?: Uint8Array
}

export interface PageOptions extends RequestOptions {
  /** How many the server sends at a time, at most 1000. The iteration gives all of them anyway. */
  readonly pageSize?: number | undefined
}

/** All items of a paged answer, the next page asked for when the last one is used up. */
export async function* readPages<Item>(
  connection: Connection,
  call: Call,
  { pageSize = 1000, ...options }: PageOptions,
): AsyncGenerator<Item> {
  let cursor: string | undefined
  do {
    const query = { ...call.query, limit: pageSize, cursor }
    const page: Page<Item> = await connection.json<Page<Item>>({ ...call, query }, options)
    yield* page.items
    cursor = page.next
  } while (cursor !== undefined)
}

/** Entries of one directory, told how to open those whose path is not text. */
export async function* withPathBytes(
  directory: FilePath,
  entries: AsyncIterable<FileEntry>,
): AsyncGenerator<ListedEntry> {
  for await (const entry of entries) {
    const isText = typeof directory === 'string' && entry.nameBytes === undefined
    yield isText ? entry : { ...entry, pathBytes: join(directory, nameOf(entry)) }
  }
}

/**
 * Everything below a directory. The server goes depth first, so what follows a directory is in it until something
 * comes that is not: that tells the bytes of each path, of which an entry itself has only the last name.
 */
export async function* walkLines(
  connection: Connection,
  call: Call,
  directory: FilePath,
  options: RequestOptions,
): AsyncGenerator<ListedEntry> {
  const answer = await connection.open(call, options)
  const parents: ListedEntry[] = []
  try {
    for await (const line of readLines(answer)) {
      const entry = JSON.parse(line) as FileEntry
      while (parents.length > 0 && !isIn(entry, parents.at(-1)!)) parents.pop()
      const parent = parents.at(-1)
      const above = parent === undefined ? directory : (parent.pathBytes ?? parent.path)
      const isText = typeof above === 'string' && entry.nameBytes === undefined
      const listed = isText ? entry : { ...entry, pathBytes: join(above, nameOf(entry)) }
      if (entry.kind === 'directory') parents.push(listed)
      yield listed
    }
  } finally {
    answer.cancel()
  }
}

function isIn(entry: FileEntry, directory: FileEntry): boolean {
  return entry.path === `${directory.path}/${entry.name}`
}

function nameOf({ name, nameBytes }: FileEntry): Uint8Array {
  if (nameBytes === undefined) return new TextEncoder().encode(name)
  return Uint8Array.from(atob(nameBytes), (character) => character.charCodeAt(0))
}

function join(directory: FilePath, name: Uint8Array): Uint8Array {
  const above = typeof directory === 'string' ? new TextEncoder().encode(directory) : directory
  const path = new Uint8Array(above.length + 1 + name.length)
  path.set(above)
  path[above.length] = '/'.charCodeAt(0)
  path.set(name, above.length + 1)
  return path
}
