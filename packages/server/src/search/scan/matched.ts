import type { Pattern } from '../pattern/pattern.ts'
import type { Span } from '../pattern/pike.ts'
import { contentEnd, lineAround, lineEnd } from '../pattern/line-ends.ts'

/** Lines that belong together in the answer, with what finds the matches in them. */
export interface Matched {
  readonly lines: Span
  readonly matches: () => readonly Span[]
}

/** Each line with a match. */
export function* matchedLines(
  pattern: Pattern,
  bytes: Buffer,
  from: number,
  end: number,
): Generator<Matched> {
  for (let at = from; at < end;) {
    const line = pattern.findLine(bytes, at, end)
    if (!line) return
    const stop = contentEnd(bytes, line)
    yield { lines: line, matches: () => [...spans(pattern, bytes, line.start, stop)] }
    at = line.end
  }
}

/** The lines of each match, which may be several. Matches in neighbouring lines are given together, as ripgrep does. */
export function* matchedBlocks(
  pattern: Pattern,
  bytes: Buffer,
  from: number,
  end: number,
): Generator<Matched> {
  let lines: Span | undefined
  let together: Span[] = []
  for (const span of spans(pattern, bytes, from, end)) {
    const own = linesOf(bytes, span, end)
    if (own.start >= end && end > 0) continue
    if (lines && own.start <= lines.end) {
      lines = { start: lines.start, end: Math.max(lines.end, own.end) }
      together.push(span)
      continue
    }
    const given = together
    if (lines) yield { lines, matches: () => given }
    lines = own
    together = [span]
  }
  if (lines) yield { lines, matches: () => together }
}

function linesOf(bytes: Buffer, { start, end: stop }: Span, end: number): Span {
  const isAtNewline = stop > start && bytes[stop - 1] === 0x0a
  return {
    start: lineAround(bytes, start, end).start,
    end: isAtNewline ? stop : lineEnd(bytes, stop, end),
  }
}

/** Every match, none inside another. A match of nothing right behind another one does not count. */
function* spans(pattern: Pattern, bytes: Buffer, from: number, end: number): Generator<Span> {
  let last = -1
  for (let at = from; at <= end;) {
    const span = pattern.find(bytes, at, end)
    if (!span) return
    const isEmpty = span.start === span.end
    if (!isEmpty || span.end !== last) yield span
    last = span.end
    at = isEmpty ? span.end + 1 : span.end
  }
}
