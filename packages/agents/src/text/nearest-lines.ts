import { othersTurn } from './others-turn.ts'
import { numberLine, splitLines } from './numbered-lines.ts'

const shownMax = 3
/** Comparing is quadratic in spirit: a huge file is searched only in its first lines. */
const linesMax = 20_000
/** About 5 ms. */
const linesAtOnce = 200
const alike = 0.4

/** The lines that look most like the first line of a text that was not found, numbered, best first. */
export async function nearestLines(content: string, wanted: string): Promise<string[]> {
  const target = splitLines(wanted).find((line) => line.trim() !== '')
  if (target === undefined) return []
  const pairs = pairsOf(target)
  const found: { line: string; number: number; score: number }[] = []
  for (const [index, line] of splitLines(content).slice(0, linesMax).entries()) {
    if (index % linesAtOnce === 0) await othersTurn()
    const score = similarity(pairs, pairsOf(line))
    if (score >= alike) found.push({ line, number: index + 1, score })
  }
  return found
    .sort((a, b) => b.score - a.score || a.number - b.number)
    .slice(0, shownMax)
    .map(({ number, line }) => numberLine(number, line.slice(0, 200)).trim())
}

/** Neighbouring characters, without blanks: indentation and spacing are what models get wrong. */
function pairsOf(line: string): ReadonlySet<string> {
  const text = line.slice(0, 1000).replaceAll(/\s+/g, '').slice(0, 200)
  const pairs = new Set<string>()
  for (let at = 0; at < Math.max(1, text.length - 1); at++) pairs.add(text.slice(at, at + 2))
  return pairs
}

function similarity(a: ReadonlySet<string>, b: ReadonlySet<string>): number {
  let both = 0
  for (const pair of a) if (b.has(pair)) both++
  return (2 * both) / (a.size + b.size)
}
