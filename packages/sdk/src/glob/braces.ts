import { CairnError } from '../client/error.ts'

/** A pattern with braces stands for so many without at most; `{a,b}{a,b}…` doubles with each pair. */
const alternativesMax = 4096

/**
 * The patterns that one with braces stands for, in order, each once. Braces nest; `{}` and `{a}` have no
 * alternatives and mean themselves, as do braces that do not close, and anything after `\`.
 */
export function expandBraces(pattern: string): string[] {
  const finished = new Set<string>()
  const waiting = [pattern]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = findGroup(next)
    if (group === undefined) finished.add(next)
    else {
      const [before, after] = [next.slice(0, group.start), next.slice(group.end)]
      waiting.push(...group.parts.toReversed().map((part) => before + part + after))
    }
    if (finished.size + waiting.length > alternativesMax) throw tooMany(pattern)
  }
  return [...finished]
}

interface Group {
  readonly start: number
  /** After the closing brace. */
  readonly end: number
  readonly parts: readonly string[]
}

/** The first outermost group that has alternatives. */
function findGroup(pattern: string): Group | undefined {
  for (let start = 0; start < pattern.length; start++) {
    if (pattern[start] === '\\') start++
    else if (pattern[start] === '{') {
      const group = readGroup(pattern, start)
      if (group !== undefined) return group
    }
  }
  return undefined
}

function readGroup(pattern: string, start: number): Group | undefined {
  const parts: string[] = []
  let depth = 0
  let partStart = start + 1
  for (let at = start; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === '\\') at++
    if (character === '{') depth++
    if (character === '}') depth--
    const endsPart = (character === ',' && depth === 1) || depth === 0
    if (!endsPart) continue
    parts.push(pattern.slice(partStart, at))
    partStart = at + 1
    if (depth === 0) return parts.length > 1 ? { start, end: at + 1, parts } : undefined
  }
  return undefined
}

function tooMany(pattern: string): CairnError {
  return new CairnError('invalid_argument', {
    what: `match ${pattern}`,
    reason: `its braces stand for more than ${alternativesMax} patterns`,
    hint: 'Use fewer braces, or a wildcard in place of some.',
  })
}
