import type { GrepEvent } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { type FilePath, spelled } from '../client/path.ts'
import type { Location } from '../files/location.ts'
import { openEvents } from './open-events.ts'

export interface GrepOptions extends RequestOptions {
  /** A file, or a directory and all that is below it; everything unless given. */
  readonly path?: FilePath | undefined
  /** The pattern is plain text. */
  readonly fixed?: boolean | undefined
  readonly ignoreCase?: boolean | undefined
  /** Only whole words. */
  readonly word?: boolean | undefined
  /** A match may go over several lines. */
  readonly multiline?: boolean | undefined
  /** Lines without a match. */
  readonly invert?: boolean | undefined
  /** `count` gives only `end` events, `files` only `begin` events. */
  readonly wants?: 'lines' | 'count' | 'files' | undefined
  /** So many lines before and after each match, as `context` events. */
  readonly before?: number | undefined
  readonly after?: number | undefined
  /** Lines in each file. */
  readonly maxCount?: number | undefined
  /** Only files that match one of them; with `!` in front, those that do not. */
  readonly glob?: readonly string[] | undefined
  /** Only files of these types, such as `ts`. */
  readonly type?: readonly string[] | undefined
  /** 1: no ignore files; 2: also hidden files; 3: also binary files. */
  readonly unrestricted?: number | undefined
  /** Only files that the layer changed. */
  readonly changed?: boolean | undefined
  /** In all open layers with this tag, such as `task=auth`: events name the layer. The most is 100,000 lines. */
  readonly attempts?: string | undefined
  /** So many lines at most, or files where no lines are wanted; all unless given. */
  readonly limit?: number | undefined
  /** `next` of the summary of a search that ended before: what follows it. */
  readonly cursor?: string | undefined
}

const linesAtOnce = 10_000
/** A search in attempts has no cursor: all of it is in one answer. */
const attemptLinesMax = 100_000

/** Asks again with the cursor for as long as a budget ends the answer before everything was searched. */
export async function* grep(
  connection: Connection,
  { base, query: point }: Location,
  pattern: string,
  options: GrepOptions,
): AsyncGenerator<GrepEvent> {
  const { path, limit = Infinity, cursor: from, signal, timeoutMs, ...asked } = options
  const where = path === undefined ? {} : spelled('path', path)
  const most = options.attempts === undefined ? linesAtOnce : attemptLinesMax
  const counted = (options.wants ?? 'lines') === 'lines' ? 'match' : 'begin'
  let left = limit
  for (let cursor = from; ;) {
    const query = {
      ...point,
      ...where,
      ...asked,
      pattern,
      limit: Math.min(left, most),
      cursor,
    }
    const call = {
      what: `search for ${pattern}`,
      method: 'GET',
      path: `${base}/grep`,
      query,
    } as const
    const { summary, events } = await openEvents<GrepEvent>(connection, call, { signal, timeoutMs })
    for await (const event of events) {
      if (event.type === counted) left--
      yield event
    }
    const { next } = summary()
    // A file that takes longer than the time of a request does not get further in the next one.
    if (next === undefined || next === cursor || left <= 0)
      return yield { type: 'summary', data: summary() }
    cursor = next
  }
}
