import type { Pacer } from '@cairn/core'
import { CairnError } from '@cairn/protocol'
import { PatternError } from '../pattern/ast.ts'
import { compileGlob, type GlobTest, quickTest } from './glob.ts'

/** What rules say of a path: not this one, this one in any case, or nothing. */
export type Verdict = 'ignore' | 'keep' | undefined

interface Rule {
  readonly verdict: 'ignore' | 'keep'
  readonly onlyDirectories: boolean
  readonly matches: GlobTest
}

const linesMax = 10_000
/** No path is longer. */
const lineCharactersMax = 4096
/** Each takes about 10 KB. Ignore files that are alike, as in the packages of one repository, share theirs. */
const automataMax = 5000
/** Each entry is compared with all of them at once, which takes some milliseconds. */
const rulesOnWayMax = 20_000

/** The lines of a .gitignore. The last one that matches decides. */
export class IgnoreRules {
  readonly #rules: readonly Rule[]

  constructor(rules: readonly Rule[]) {
    this.#rules = rules
  }

  get count(): number {
    return this.#rules.length
  }

  /** `path` is below the directory of the rules. */
  ask(path: string, isDirectory: boolean): Verdict {
    return this.#rules.findLast(
      ({ onlyDirectories, matches }) => (isDirectory || !onlyDirectories) && matches(path),
    )?.verdict
  }
}

/** Reads the ignore files of one search. Their owner wrote them, and other clients must not wait for them. */
export class IgnoreFileReader {
  readonly #pacer: Pacer
  readonly #automata = new Map<string, GlobTest>()

  constructor(pacer: Pacer) {
    this.#pacer = pacer
  }

  /** `text` has one character a byte. A line that cannot be read is no rule, as in git. */
  async read(text: string): Promise<IgnoreRules | undefined> {
    const rules: Rule[] = []
    for (const line of text.split('\n', linesMax)) {
      if (this.#pacer.isDue()) await this.#pacer.rest()
      if (line.length > lineCharactersMax) continue
      try {
        const rule = readRule(Buffer.from(line, 'latin1').toString(), (glob) => this.#compile(glob))
        if (rule) rules.push(rule)
      } catch (error) {
        if (!(error instanceof PatternError)) throw error
      }
    }
    return rules.length > 0 ? new IgnoreRules(rules) : undefined
  }

  #compile(glob: string): GlobTest {
    const known = quickTest(glob) ?? this.#automata.get(glob)
    if (known) return known
    if (this.#automata.size >= automataMax)
      throw tooManyRules(`have more than ${automataMax} different patterns`)
    const test = compileGlob(glob)
    this.#automata.set(glob, test)
    return test
  }
}

/** Refuses more rules on the way to one directory than an entry can be compared with at once. */
export function requireFewRules(count: number): void {
  if (count > rulesOnWayMax)
    throw tooManyRules(`on the way to one directory have more than ${rulesOnWayMax} lines`)
}

function tooManyRules(reason: string): CairnError {
  return new CairnError('too_large', {
    what: 'search',
    reason: `the ignore files ${reason}`,
    hint: 'Search without them: --no-ignore, or unrestricted=1 over HTTP.',
  })
}

/** A line of an ignore file, or a `--glob`. */
function readRule(line: string, compile: (glob: string) => GlobTest): Rule | undefined {
  if (line.startsWith('#')) return undefined
  let text = trimEnd(line)
  const isKept = text.startsWith('!')
  if (isKept) text = text.slice(1)
  const onlyDirectories = text.endsWith('/') && text.length > 1
  if (onlyDirectories) text = text.slice(0, -1)
  if (text === '' || text === '/') return undefined
  const isAnchored = text.includes('/')
  const glob = isAnchored ? text.replace(/^\//, '') : `**/${text}`
  return {
    verdict: isKept ? 'keep' : 'ignore',
    onlyDirectories,
    matches: compile(glob),
  }
}

/** Without the blanks at its end, except one behind a backslash. */
function trimEnd(line: string): string {
  const text = line.trimEnd()
  const isQuoted = text.endsWith('\\') && text.length < line.length
  return isQuoted ? text.slice(0, -1) + line[text.length]! : text
}

/** `--glob`: only what one of them matches, without what one with `!` matches; the last that matches decides. */
export class GlobFilter {
  readonly #rules: IgnoreRules
  readonly #hasPositive: boolean

  constructor(globs: readonly string[]) {
    const rules = globs.flatMap((glob) => {
      const rule = readRule(glob.startsWith('#') ? `\\${glob}` : glob, compileGlob)
      return rule ? [rule] : []
    })
    this.#hasPositive = rules.some(({ verdict }) => verdict === 'ignore')
    this.#rules = new IgnoreRules(rules)
  }

  ask(path: string, isDirectory: boolean): Verdict {
    const verdict = this.#rules.ask(path, isDirectory)
    // What a glob names is wanted: the other way around than in an ignore file.
    if (verdict) return verdict === 'ignore' ? 'keep' : 'ignore'
    return this.#hasPositive && !isDirectory ? 'ignore' : undefined
  }
}
