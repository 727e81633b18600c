import { CairnError } from '../client/error.ts'

/** A pattern with braces stands for so many without at most; `{a,b}{a,b}…` doubles with each pair. */
const alternativesMax = 4096
/** For all of them together: a long pattern is copied for each. */
const charactersMax = 1 << 20

/**
 * The patterns that one with braces stands for, in order, each once. Braces nest; `{}` and `{a}` have no
 * alternatives and mean themselves, as do braces that do not close, and anything after `\`.
 */
export function expandBraces(pattern: string): string[] {
  const finished = new Set<string>()
  const waiting = [pattern]
  let characters = 0
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const group = findGroup(next)
    characters += next.length
    if (group === undefined) finished.add(next)
    else {
      const [before, after] = [next.slice(0, group.start), next.slice(group.end)]
      waiting.push(...group.parts.toReversed().map((part) => before + part + after))
    }
    const isTooLong = characters > charactersMax
    if (isTooLong || finished.size + waiting.length > alternativesMax) throw tooMany(pattern)
  }
  return [...finished]
}

interface Group {
  readonly start: number
  /** After the closing brace. */
  readonly end: number
  readonly parts: readonly string[]
}

/** Open braces, from the outermost one. */
interface Opening {
  readonly start: number
  readonly parts: string[]
  partStart: number
}

/** The first outermost group that has alternatives. In one pass: a pattern of open braces alone takes no longer. */
function findGroup(pattern: string): Group | undefined {
  const open: Opening[] = []
  let first: Group | undefined
  for (let at = 0; at < pattern.length; at++) {
    const character = pattern[at]
    if (character === '\\') at++
    else if (character === '{') open.push({ start: at, parts: [], partStart: at + 1 })
    else if (character === ',') endPart(open.at(-1), pattern, at)
    else if (character === '}') {
      const closed = open.pop()
      endPart(closed, pattern, at)
      const isGroup = closed !== undefined && closed.parts.length > 1
      if (isGroup && !(first && first.start < closed.start))
        first = { start: closed.start, end: at + 1, parts: closed.parts }
      if (first && open.length === 0) return first
    }
  }
  return first
}

function endPart(opening: Opening | undefined, pattern: string, at: number): void {
  if (!opening) return
  opening.parts.push(pattern.slice(opening.partStart, at))
  opening.partStart = at + 1
}

function tooMany(pattern: string): CairnError {
  return new CairnError('invalid_argument', {
    what: `match ${pattern}`,
    reason: `its braces stand for more than ${alternativesMax} patterns, or for too long ones`,
    hint: 'Use fewer braces, or a wildcard in place of some.',
  })
}
