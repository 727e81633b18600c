import type { DeferringClass } from '../data/spool-record.ts'

/** When changes of a directory travel: at once, with a pack, or never. */
export type PathClass = 'durable' | DeferringClass

/**
 * Patterns that give directories a class. A pattern without a slash in the middle matches a name at any depth; one with
 * a slash is a path below the mount point. `*` and `?` match inside a name. A class holds for everything below, until a
 * deeper pattern says otherwise.
 */
export interface Profile {
  readonly name: string
  readonly local: readonly string[]
  readonly scratch: readonly string[]
  readonly durable: readonly string[]
}

/** Dependencies, build output and caches: large, and made again by a command. */
const remakable = [
  'node_modules',
  '.pnpm-store',
  '.venv',
  'target',
  'dist',
  'build',
  'coverage',
  '.cache',
  '.turbo',
  '.next/cache',
  '.vitepress/cache',
  '.gradle',
  '__pycache__',
  '.pytest_cache',
  '.mypy_cache',
  '.ruff_cache',
].map((name) => `**/${name}/**`)

export const builtInProfiles: readonly Profile[] = [
  { name: 'none', local: [], scratch: [], durable: [] },
  { name: 'portable', local: remakable, scratch: [], durable: [] },
  { name: 'coding-agent', local: remakable, scratch: [], durable: [] },
]

export type Classify = (names: readonly string[]) => PathClass

/** Undefined where every directory is durable. */
export function compileProfile({ local, scratch, durable }: Profile): Classify | undefined {
  const rules = [...rulesOf('local', local), ...rulesOf('scratch', scratch)]
  if (rules.length === 0) return undefined
  // The last rule that matches a directory wins, so what is kept durable beats what is not.
  rules.push(...rulesOf('durable', durable))
  return (names) => {
    let found: PathClass = 'durable'
    for (let depth = 1; depth <= names.length; depth++)
      for (const { class: of, matches } of rules) if (matches(names, depth)) found = of
    return found
  }
}

interface PatternRule {
  readonly class: PathClass
  /** Whether the directory that the first `depth` names lead to is meant. */
  readonly matches: (names: readonly string[], depth: number) => boolean
}

function rulesOf(of: PathClass, patterns: readonly string[]): PatternRule[] {
  return patterns.map((pattern) => ({ class: of, matches: compilePattern(pattern) }))
}

function compilePattern(pattern: string): PatternRule['matches'] {
  const isAnyDepth = pattern.startsWith('**/')
  const path = pattern.replace(/^\*\*\/|^\//, '').replace(/\/\*\*$|\/$/, '')
  const parts = path.split('/').map(matcherOf)
  const isAnchored = !isAnyDepth && (pattern.startsWith('/') || parts.length > 1)
  return (names, depth) => {
    const start = depth - parts.length
    if (start < 0 || (isAnchored && start > 0)) return false
    return parts.every((part, index) => part(names[start + index]!))
  }
}

function matcherOf(part: string): (name: string) => boolean {
  if (!/[*?]/.test(part)) return (name) => name === part
  const source = part.replace(/[.+^${}()|[\]\\]/g, String.raw`\$&`)
  const expression = new RegExp(`^${source.replace(/\*/g, '.*').replace(/\?/g, '.')}$`, 's')
  return (name) => expression.test(name)
}
