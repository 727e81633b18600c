import {
  anything,
  integer,
  list,
  named,
  nullable,
  object,
  type Of,
  oneOf,
  optional,
  text,
} from '../schema/build.ts'
import { pointQuery, workspaceParams } from '../schema/common.ts'
import { routes } from '../schema/route.ts'

/** Integers beyond 2^53 are text, and bytes are base64. */
export type SqlCell = string | number | null | { readonly base64: string }

export type SqlAnswer = Of<typeof SqlAnswer>
export const SqlAnswer = named(
  'SqlAnswer',
  object({
    columns: list(text({ examples: ['path'] })),
    /** Values in the order of the columns. */
    rows: list(list(anything<SqlCell>({ examples: ['/repo/src/main.ts'] }))),
    /** Why there are not all rows; null when there are. */
    truncated: nullable(oneOf(['rows', 'bytes'])),
  }),
)

export const sqlRowsMax = 10_000

export const sqlRoutes = routes({
  'GET /v1/workspaces/:workspace/sql': {
    summary: 'Run a SELECT on the files, tags, log, layers, checkpoints and journals of a point',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      sql: text({
        minLength: 1,
        maxLength: 8192,
        examples: ['select ext, count(*) from files group by ext'],
      }),
      limit: optional(integer({ minimum: 1, maximum: sqlRowsMax, default: 1000 })),
    }),
    answers: { 200: SqlAnswer },
  },
})
