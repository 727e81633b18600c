import type { GrepEvent, GrepLines, GrepText } from '@cairn/protocol'
import type { StemReader } from './words.ts'

export interface Passage {
  /** The line that the passage is about, from 1. */
  readonly line: number
  readonly text: string
}

/** Lines before and after that belong to a passage. */
export const linesAround = 2
const lineCharactersMax = 400

interface ReadLine {
  readonly line: number
  readonly text: string
  readonly words: ReadonlySet<number>
  readonly isMatch: boolean
}

/** The part of a file whose words weigh most together: of equal ones the first. Undefined where no line has a word. */
export function bestPassage(
  events: readonly GrepEvent[],
  reader: StemReader,
  weights: readonly number[],
): Passage | undefined {
  const lines = events.flatMap((event) =>
    event.type === 'match' || event.type === 'context'
      ? [readLine(event.data, event.type === 'match', reader)]
      : [],
  )
  let best: { readonly weight: number; readonly about: ReadLine } | undefined
  for (const [at, about] of lines.entries()) {
    if (about.words.size === 0) continue
    const near = around(lines, at)
    const words = new Set(near.flatMap((each) => [...each.words]))
    // Its own words count twice: the line that a passage is about is the one that says most.
    const weight = weigh(words, weights) + weigh(about.words, weights)
    if (!best || weight > best.weight) best = { weight, about }
  }
  if (!best) return undefined
  const { about } = best
  const text = around(lines, lines.indexOf(about)).map((each) => each.text)
  return { line: about.line, text: text.join('\n') }
}

function readLine(found: GrepLines, isMatch: boolean, reader: StemReader): ReadLine {
  const bytes = bytesOf(found.lines)
  const words = found.submatches.map((span) => reader.read(bytes, span)).filter((at) => at >= 0)
  const text = bytes.toString().trimEnd()
  const isLong = text.length > lineCharactersMax
  return {
    line: found.line_number,
    text: isLong ? `${text.slice(0, lineCharactersMax)}…` : text,
    words: new Set(words),
    isMatch,
  }
}

function around(lines: readonly ReadLine[], at: number): readonly ReadLine[] {
  const { line } = lines[at]!
  return lines
    .slice(Math.max(0, at - linesAround), at + linesAround + 1)
    .filter((each) => Math.abs(each.line - line) <= linesAround)
}

function weigh(words: ReadonlySet<number>, weights: readonly number[]): number {
  let sum = 0
  for (const word of words) sum += weights[word]!
  return sum
}

function bytesOf(text: GrepText): Buffer {
  return 'text' in text ? Buffer.from(text.text) : Buffer.from(text.bytes, 'base64')
}
