import { expandBraces } from './braces.ts'
import { compileName, type NamePattern } from './name-pattern.ts'

export interface GlobOptions {
  /** Wildcards also match a dot at the beginning of a name. */
  readonly dot?: boolean | undefined
}

/** A pattern without braces: names, and `**` for any number of directories. */
export type PathPattern = readonly (NamePattern | '**')[]

/** The alternatives that a pattern with braces stands for. */
export function parseGlob(pattern: string, { dot = false }: GlobOptions = {}): PathPattern[] {
  return expandBraces(pattern).map((alternative) =>
    alternative
      .split('/')
      .filter((part) => part !== '' && part !== '.')
      .map((part) => (part === '**' ? part : compileName(part, dot))),
  )
}

/**
 * A test for paths, with the same patterns as `files.glob`. Slashes at either end make no difference.
 *
 * @example
 * ```ts
 * const isSource = compileGlob('src/**\/*.{ts,tsx}')
 * isSource('src/client/retry.ts') // true
 * ```
 */
export function compileGlob(pattern: string, options: GlobOptions = {}): (path: string) => boolean {
  const alternatives = parseGlob(pattern, options)
  return (path) => {
    const names = path.split('/').filter((name) => name !== '')
    return alternatives.some((parts) => matchNames(parts, names, options.dot === true))
  }
}

/** The same walk with one place to go back to as in a name, with `**` as the star. */
export function matchNames(parts: PathPattern, names: readonly string[], dot = false): boolean {
  let at = 0
  let part = 0
  let star: { readonly part: number; at: number } | undefined
  while (at < names.length) {
    const current = parts[part]
    if (current === '**') {
      star = { part: ++part, at }
    } else if (current !== undefined && current.matches(names[at]!)) {
      part++
      at++
    } else if (star !== undefined && (dot || !names[star.at]!.startsWith('.'))) {
      at = ++star.at
      part = star.part
    } else {
      return false
    }
  }
  return parts.slice(part).every((rest) => rest === '**')
}
