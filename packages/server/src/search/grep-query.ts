import { CairnError } from '@cairn/protocol'
import { FileFilter } from './ignore/file-filter.ts'
import { compileGlob, type GlobTest } from './ignore/glob.ts'
import type { GrepBudget, GrepPosition } from './grep.ts'
import { readCursor } from './grep.ts'
import { PatternError } from './pattern/ast.ts'
import { patternCharactersMax } from './pattern/pattern.ts'
import type { SearchSpec } from './scan-messages.ts'

/** What a request asks for, as its URL spells it. */
export interface GrepQuery {
  readonly pattern: string
  readonly fixed?: string
  readonly ignoreCase?: string
  readonly word?: string
  readonly multiline?: string
  readonly invert?: string
  readonly text?: string
  readonly wants?: 'lines' | 'count' | 'files'
  readonly before?: number
  readonly after?: number
  readonly maxCount?: number
  readonly glob?: string | readonly string[]
  readonly type?: string | readonly string[]
  readonly unrestricted?: number
  readonly changed?: string
  readonly attempts?: string
  readonly limit?: number
  readonly timeMs?: number
  readonly cursor?: string
}

const flag = (description: string): object => ({
  type: 'string',
  enum: ['', 'true', 'false'],
  description,
})
const count = (maximum: number, description: string): object => ({
  type: 'integer',
  minimum: 0,
  maximum,
  description,
})
const oneText = { type: 'string', minLength: 1, maxLength: 1000 } as const
const texts = (description: string): object => ({
  anyOf: [oneText, { type: 'array', maxItems: 100, items: oneText }],
  description,
})

const contextMax = 1000
const linesMax = 100_000
const timeMsMax = 60_000
const bytesMax = 16 * 2 ** 30

export const grepQuerySchema: Readonly<Record<string, object>> = {
  pattern: { type: 'string', maxLength: patternCharactersMax, description: "ripgrep's syntax" },
  fixed: flag('the pattern is plain text'),
  ignoreCase: flag('upper and lower case are the same'),
  word: flag('only whole words'),
  multiline: flag('a match may go over several lines; files up to 64 MiB'),
  invert: flag('lines without a match'),
  text: flag('binary files, too, as if they were text'),
  wants: { enum: ['lines', 'count', 'files'], description: 'lines unless given' },
  before: count(contextMax, 'lines before each match'),
  after: count(contextMax, 'lines after each match'),
  maxCount: count(1e9, 'lines in each file'),
  glob: texts('only files that match; with ! those that do not. May be given several times'),
  type: texts('only files of this type, such as ts. May be given several times'),
  unrestricted: count(3, '1: no ignore files; 2: also hidden files; 3: also binary files'),
  changed: flag('only files that the layer changed'),
  attempts: {
    type: 'string',
    minLength: 1,
    maxLength: 256,
    description: 'in all open layers with this tag, such as task=auth; events name the layer',
  },
  limit: {
    type: 'integer',
    minimum: 1,
    maximum: linesMax,
    description: 'lines; 10000 unless given',
  },
  timeMs: { type: 'integer', minimum: 1, maximum: timeMsMax, description: '30000 unless given' },
  cursor: { type: 'string', maxLength: 6000, description: '`next` of the summary before' },
}

export interface AskedGrep {
  readonly spec: SearchSpec
  readonly filter: FileFilter
  readonly budget: GrepBudget
  readonly onlyChanged: boolean
  /** The tag of the layers that are searched together. */
  readonly attempts: string | undefined
  readonly after: GrepPosition | undefined
}

export function readGrep(query: GrepQuery): AskedGrep {
  const { pattern, wants = 'lines', cursor, unrestricted = 0, attempts } = query
  const isOn = (value: string | undefined): boolean => value === '' || value === 'true'
  return {
    spec: {
      pattern,
      options: {
        isFixed: isOn(query.fixed),
        ignoreCase: isOn(query.ignoreCase),
        isWord: isOn(query.word),
        isMultiline: isOn(query.multiline),
      },
      isInverted: isOn(query.invert),
      isText: isOn(query.text) || unrestricted === 3,
      before: query.before ?? 0,
      after: query.after ?? 0,
      maxCount: query.maxCount ?? Infinity,
      wants,
    },
    filter: makeFilter([query.glob ?? []].flat(), [query.type ?? []].flat(), unrestricted),
    budget: {
      timeMs: query.timeMs ?? 30_000,
      lines: query.limit ?? 10_000,
      bytes: bytesMax,
      isResumable: attempts === undefined,
    },
    attempts,
    onlyChanged: isOn(query.changed),
    after: cursor === undefined ? undefined : readCursor(cursor),
  }
}

export function makeFilter(
  globs: readonly string[],
  types: readonly string[],
  unrestricted: number,
): FileFilter {
  return explained(() => new FileFilter({ globs, types, unrestricted }))
}

/** For the last name of a path. */
export function compileNameGlob(glob: string): GlobTest {
  return explained(() => compileGlob(glob))
}

function explained<T>(compile: () => T): T {
  try {
    return compile()
  } catch (error) {
    if (!(error instanceof PatternError)) throw error
    throw new CairnError('invalid_argument', {
      what: 'choose files',
      reason: error.message,
      subject: 'glob',
    })
  }
}
