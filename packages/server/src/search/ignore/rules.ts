import { PatternError } from '../pattern/ast.ts'
import { compileGlob, type GlobTest } from './glob.ts'

/** What rules say of a path: not this one, this one in any case, or nothing. */
export type Verdict = 'ignore' | 'keep' | undefined

interface Rule {
  readonly verdict: 'ignore' | 'keep'
  readonly onlyDirectories: boolean
  readonly matches: GlobTest
}

const linesMax = 10_000

/** The lines of a .gitignore. The last one that matches decides. */
export class IgnoreRules {
  readonly #rules: readonly Rule[]

  constructor(rules: readonly Rule[]) {
    this.#rules = rules
  }

  /** `path` is below the directory of the rules. */
  ask(path: string, isDirectory: boolean): Verdict {
    return this.#rules.findLast(
      ({ onlyDirectories, matches }) => (isDirectory || !onlyDirectories) && matches(path),
    )?.verdict
  }
}

/** `text` has one character a byte. A line that cannot be read is no rule, as in git. */
export function parseIgnoreFile(text: string): IgnoreRules | undefined {
  const rules: Rule[] = []
  for (const line of text.split('\n', linesMax)) {
    try {
      const rule = readRule(Buffer.from(line.replace(/\r$/, ''), 'latin1').toString())
      if (rule) rules.push(rule)
    } catch (error) {
      if (!(error instanceof PatternError)) throw error
    }
  }
  return rules.length > 0 ? new IgnoreRules(rules) : undefined
}

/** A line of an ignore file, or a `--glob`. */
function readRule(line: string, ignoreCase = false): Rule | undefined {
  if (line.startsWith('#')) return undefined
  let text = line.replace(/(?<!\\)\s+$/, '').replace(/\\(\s)$/, '$1')
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
    matches: compileGlob(glob, ignoreCase),
  }
}

/** `--glob`: only what one of them matches, without what one with `!` matches; the last that matches decides. */
export class GlobFilter {
  readonly #rules: IgnoreRules
  readonly #hasPositive: boolean

  constructor(globs: readonly string[]) {
    const rules = globs.flatMap((glob) => {
      const rule = readRule(glob.startsWith('#') ? `\\${glob}` : glob)
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
