/** Schemas that several groups of routes share. */

import { conflictSides } from '../layer-words.ts'
import {
  integer,
  list,
  named,
  nullable,
  object,
  type Of,
  oneOf,
  optional,
  type Schema,
  text,
} from './build.ts'

export const time = (): Schema<string> => text({ examples: ['2026-11-02T10:00:00.000Z'] })

/** A time in a query. */
export const timeQuery = (): Schema<string> =>
  text({ maxLength: 64, description: 'ISO 8601', examples: ['2026-11-02T10:00:00Z'] })

/** The sequence number of a change in a branch's log. */
export const seq = (): Schema<number> => integer({ examples: [17] })
/** The hash of a tree. */
export const root = (): Schema<string> => text({ examples: ['sha256:9f86d081'] })
/** The id of a key, token or grant. */
export const actor = (): Schema<string> => text({ examples: ['alice'] })
/** An absolute path in an answer. */
export const path = (): Schema<string> => text({ examples: ['/repo/src/main.ts'] })

/** `?list` and `?list=true` mean yes. */
export const flag = (): Schema<'' | 'true' | 'false'> => oneOf(['', 'true', 'false'])
export const limit = (): Schema<number> => integer({ minimum: 1, maximum: 1000, default: 100 })
/** Where the page before ended. */
export const cursor = (maxLength = 512): Schema<string> =>
  text({ maxLength, examples: ['b2xkZXI'] })

/** Names of workspaces, layers, checkpoints, tokens and journals. */
export const name = (example: string): Schema<string> =>
  text({
    pattern: '^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$',
    wants: '1 to 128 letters, digits, dots, underscores and hyphens, with a letter or digit first',
    examples: [example],
  })

export const workspaceParams = object({
  workspace: text({ minLength: 1, maxLength: 128, examples: ['demo'] }),
})

/** Which tree a request is about: `main` unless given. */
export const pointQuery = object({
  branch: optional(text({ minLength: 1, maxLength: 128, description: 'main unless given' })),
  layer: optional(text({ minLength: 1, maxLength: 256, description: 'id, name, tag or label' })),
  at: optional(text({ minLength: 1, maxLength: 256, description: 'a checkpoint, to be read' })),
  side: optional(
    oneOf(conflictSides, {
      description: 'of a layer: what it stands on, has, or commits to',
    }),
  ),
})

/** A path in a query: `path`, or `pathBytes` in base64 where it is not UTF-8. */
export const pathQuery = {
  path: optional(text({ description: 'a file, or a directory and what is below it' })),
  pathBytes: optional(text({ description: 'the same in base64, where it is not UTF-8' })),
}

/** A list that stays short, so it has no pages. */
export const items = <S extends Schema<unknown>>(item: S) => object({ items: list(item) })

export interface Page<Item> {
  readonly items: readonly Item[]
  /** Give it as `cursor` to go on; absent at the end. */
  readonly next?: string
}

export const page = <S extends Schema<unknown>>(item: S) =>
  object({
    items: list(item),
    /** Give it as `cursor` to go on; absent at the end. */
    next: optional(cursor()),
  })

const most = (): Schema<number> => integer({ examples: [1_000_000] })

export const quotaFields = { maxBytes: optional(most()), maxFiles: optional(most()) }

/** For what is there: null takes a limit away. */
export const quotaEdit = {
  maxBytes: optional(nullable(most())),
  maxFiles: optional(nullable(most())),
}

export type Quota = Of<typeof Quota>
export const Quota = named('Quota', object(quotaFields))

/** What counts against a quota: everything that has a name. A layer that deleted more than it added has less than 0. */
export type Used = Of<typeof Used>
export const Used = named(
  'Used',
  object({
    /** Bytes of content, without holes, before compression. */
    bytes: integer({ minimum: Number.MIN_SAFE_INTEGER, examples: [4096] }),
    /** Files, directories, symlinks and the like. */
    files: integer({ minimum: Number.MIN_SAFE_INTEGER, examples: [3] }),
  }),
)
