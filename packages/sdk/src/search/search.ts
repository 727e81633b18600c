import type { SearchAnswer } from '@cairn/protocol'
import type { Connection } from '../client/connection.ts'
import type { RequestOptions } from '../client/deadline.ts'
import { type FilePath, spelled } from '../client/path.ts'
import type { Location } from '../files/location.ts'

export interface SearchOptions extends RequestOptions {
  /** A file, or a directory and all that is below it; everything unless given. */
  readonly path?: FilePath | undefined
  /** Only files that match one of them; with `!` in front, those that do not. */
  readonly glob?: readonly string[] | undefined
  /** Only files of these types, such as `ts`. */
  readonly type?: readonly string[] | undefined
  /** 1: no ignore files; 2: also hidden files. */
  readonly unrestricted?: number | undefined
  /** So many results at most: 10 unless given, up to 100. */
  readonly limit?: number | undefined
}

export function search(
  connection: Connection,
  { base, query: point }: Location,
  question: string,
  options: SearchOptions,
): Promise<SearchAnswer> {
  const { path, signal, timeoutMs, ...asked } = options
  const where = path === undefined ? {} : spelled('path', path)
  const query = { ...point, ...where, ...asked, q: question }
  const what = `search for ${question}`
  const call = { what, method: 'GET', path: `${base}/search`, query } as const
  return connection.json<SearchAnswer>(call, { signal, timeoutMs })
}
