import { encodePath, type FilePath } from '../client/path.ts'
import type { ApiCall, Query } from '../client/request.ts'

/** Where the files of a workspace are: its routes, and its branch. */
export interface Location {
  /** `/workspaces/NAME`, encoded. */
  readonly base: string
  readonly query: Query
}

/** A call for a file. `verb` and the path together follow "cannot" in messages. */
export function fileCall(
  location: Location,
  method: ApiCall['method'],
  path: FilePath,
  what: string,
  query: Query = {},
): ApiCall {
  const { base } = location
  const encoded = encodePath(path, what)
  return { what, method, path: `${base}/files${encoded}`, query: { ...query, ...location.query } }
}
