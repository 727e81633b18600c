import { fileKinds } from '../file-kinds.ts'
import {
  anyOf,
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
import { pathQuery, pointQuery, timeQuery, workspaceParams } from '../schema/common.ts'
import { media, routes } from '../schema/route.ts'
import { FileEntry } from './file-shapes.ts'

export type FindSummary = Of<typeof FindSummary>
export const FindSummary = named(
  'FindSummary',
  object({
    /** How many entries this answer has. */
    found: integer({ examples: [12] }),
    /** Why the answer is not whole; null when it is. */
    truncated: nullable(oneOf(['time', 'entries'])),
    /** The cursor to go on with. */
    next: optional(text()),
  }),
)

/** One line of the answer: what was found, and at last a summary. */
export type FindEvent = Of<typeof FindEvent>
const FindEvent = named(
  'FindEvent',
  anyOf(
    object({ type: oneOf(['entry']), data: FileEntry }),
    object({ type: oneOf(['summary']), data: FindSummary }),
  ),
)

const size = (description: string) => optional(integer({ description }))
const tag = text({ minLength: 1, maxLength: 400, examples: ['agent=a'] })

export const findRoutes = routes({
  'GET /v1/workspaces/:workspace/find': {
    summary: 'Find what is below a directory, by name, kind, size, time, tag and actor',
    params: workspaceParams,
    query: object({
      ...pointQuery.fields,
      ...pathQuery,
      name: optional(text({ maxLength: 1000, description: 'a glob for the last name' })),
      kind: optional(oneOf(fileKinds)),
      sizeMin: size('bytes of a file, at least'),
      sizeMax: size('bytes of a file, at most'),
      newer: optional(timeQuery()),
      older: optional(timeQuery()),
      tag: optional(anyOf(tag, list(tag, { maxItems: 32 }))),
      changedBy: optional(
        text({ maxLength: 256, description: 'the key or token that changed it last' }),
      ),
      limit: integer({ minimum: 1, maximum: 100_000, default: 10_000 }),
      timeMs: integer({ minimum: 1, maximum: 60_000, default: 30_000 }),
      cursor: optional(text({ maxLength: 6000 })),
    }),
    answers: { 200: media('application/x-ndjson', FindEvent) },
  },
})
