import type { FileEntry, FileKind, FindEvent } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { type FilePath, spelled } from '../client/path.ts'
import type { Location } from '../files/location.ts'
import { openEvents } from './open-events.ts'

/** All that are given must hold. */
export interface FindOptions extends RequestOptions {
  /** A directory; everything unless given. */
  readonly path?: FilePath | undefined
  /** A glob for the last name, hidden ones included: `*.ts`. */
  readonly name?: string | undefined
  readonly kind?: FileKind | undefined
  /** Bytes of a file, both included. */
  readonly sizeMin?: number | undefined
  readonly sizeMax?: number | undefined
  /** Modified after this time, or before it. */
  readonly newer?: Date | undefined
  readonly older?: Date | undefined
  /** `reviewed=yes`, or `reviewed` with any value. */
  readonly tag?: readonly string[] | undefined
  /** Changed last by this key or token. It reads the log. */
  readonly changedBy?: string | undefined
  /** So many at most; all unless given. */
  readonly limit?: number | undefined
}

const entriesAtOnce = 10_000

/** Asks again with the cursor for as long as a budget ends the answer before the end of the tree. */
export async function* find(
  connection: Connection,
  { base, query: point }: Location,
  options: FindOptions,
): AsyncGenerator<FileEntry> {
  const { path, newer, older, limit = Infinity, signal, timeoutMs, ...asked } = options
  const where = path === undefined ? {} : spelled('path', path)
  const times = { newer: newer?.toISOString(), older: older?.toISOString() }
  let left = limit
  for (let cursor: string | undefined; left > 0;) {
    const most = { limit: Math.min(left, entriesAtOnce), cursor }
    const query = { ...point, ...where, ...times, ...asked, ...most }
    const call = { what: 'find files', method: 'GET', path: `${base}/find`, query } as const
    const { summary, events } = await openEvents<FindEvent>(connection, call, { signal, timeoutMs })
    for await (const event of events) {
      if (event.type !== 'entry') continue
      left--
      yield event.data as FileEntry
    }
    cursor = summary().next
    if (cursor === undefined) return
  }
}
