import {
  anyOf,
  integer,
  list,
  named,
  nullable,
  number,
  object,
  type Of,
  oneOf,
  optional,
  text,
} from '../schema/build.ts'
import { path, pathQuery, pointQuery, workspaceParams } from '../schema/common.ts'
import { routes } from '../schema/route.ts'

export type SearchResult = Of<typeof SearchResult>
export const SearchResult = named(
  'SearchResult',
  object({
    path: path(),
    /** See `Spelled`. */
    pathBytes: optional(text()),
    /** By BM25; only to be compared within one answer. */
    score: number({ examples: [7.31] }),
    /** The line that the passage is about, from 1. */
    line: integer({ examples: [42] }),
    /** That line and up to two before and after it. */
    passage: text({ examples: ['if (session.expires < now) throw new SessionExpired()'] }),
  }),
)

export type SearchAnswer = Of<typeof SearchAnswer>
export const SearchAnswer = named(
  'SearchAnswer',
  object({
    /** What was looked for: what the words of the question begin with. */
    words: list(text({ examples: ['session'] })),
    /** The best first. */
    results: list(SearchResult),
    /** How many files have one of the words. */
    files: integer({ examples: [12] }),
    /** Why not all files were looked at; null when they were. */
    truncated: nullable(oneOf(['time', 'bytes', 'files'])),
  }),
)

const choice = text({ minLength: 1, maxLength: 1000 })
const choices = anyOf(choice, list(choice, { maxItems: 100 }))

export const searchRoutes = routes({
  'GET /v1/workspaces/:workspace/search': {
    summary: 'Find the files that a question is about, the best first, with a passage of each',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      ...pathQuery,
      q: text({ minLength: 1, maxLength: 1000, examples: ['where do sessions expire'] }),
      glob: optional(choices),
      type: optional(choices),
      unrestricted: optional(integer({ maximum: 2 })),
      limit: integer({ minimum: 1, maximum: 100, default: 10 }),
      timeMs: integer({ minimum: 1, maximum: 60_000, default: 10_000 }),
    }),
    answers: { 200: SearchAnswer },
  },
})
