import { expect, it } from 'vitest'
import type { FilePart, SearchSpec } from '../scan-messages.ts'
import { Searching } from './searching.ts'

const spec: SearchSpec = {
  pattern: 'x',
  options: { isFixed: false, ignoreCase: false, isWord: false, isMultiline: false },
  isInverted: false,
  isText: false,
  before: 0,
  after: 0,
  maxCount: Infinity,
  wants: 'lines',
}

/** Files that lie one behind the other in shared memory, as kept texts do. */
function rowOf(texts: readonly string[]): readonly FilePart[] {
  const whole = Buffer.from(texts.map((text) => `${text}\n`).join(''))
  const shared = new SharedArrayBuffer(whole.length)
  Buffer.from(shared).set(whole)
  let at = 0
  return texts.map((text, index) => {
    const bytes = new Uint8Array(shared, at, Buffer.byteLength(text))
    at += bytes.length + 1
    const places = [{ path: `{"text":"/${index}"}` }]
    return { places, bytes, isFirst: true, isLast: true, isNamed: false, afterLine: 0 }
  })
}

const limits = { linesMax: 1e9, textMax: 1e9, timeMs: 60_000 }

function placesIn(text: string): readonly string[] {
  return text
    .split('\n')
    .filter((line) => line.startsWith('{"type":"match"'))
    .map((line) => JSON.parse(line).data)
    .map(({ path, line_number: line }) => `${path.text}:${line}`)
}

it('a row of files: the lines and counts of a search of each', () => {
  const texts = ['a\nx\n', '', 'none', '\n', 'x', '\ufeffx', 'a\u0000x', 'yx\n\nx', 'b\n']
  const pieces = rowOf(texts)
  const together = new Searching(spec).scan(pieces, limits)
  expect(placesIn(together.text)).toEqual(['/0:2', '/4:1', '/5:1', '/7:1', '/7:3'])
  const alone = pieces.map((piece) => new Searching(spec).scan([piece], limits).counts)
  for (const field of Object.keys(together.counts) as (keyof typeof together.counts)[])
    expect(together.counts[field]).toBe(alone.reduce((sum, counts) => sum + counts[field], 0))
})

it.each(['^$', '$', 'x*', 'a$', '^b', '\\bx\\b', '[^x]x'])(
  'a row of files and the pattern %s: the lines of a search of each',
  (pattern) => {
    const pieces = rowOf(['a', 'b\n', '', 'x\n\n', 'xx', 'x', 'a\nb', '\u00e9x'])
    const search = (some: readonly FilePart[]): readonly string[] =>
      placesIn(new Searching({ ...spec, pattern }).scan(some, limits).text)
    expect(search(pieces)).toEqual(pieces.flatMap((piece) => search([piece])))
  },
)

it('a search that ends in the middle of a row goes on where it was', () => {
  const pieces = rowOf(
    Array.from({ length: 1000 }, (_, at) => (at % 3 === 0 ? 'x\nx\n' : 'none\n')),
  )
  const wanted = placesIn(new Searching(spec).scan(pieces, limits).text)
  const found: string[] = []
  let rest = pieces
  let rounds = 0
  for (; rest.length > 0; rounds++) {
    // Over before it began: it ends when it looks at the clock.
    const { text, stop } = new Searching(spec).scan(rest, { ...limits, timeMs: -1 })
    found.push(...placesIn(text))
    if (!stop) break
    const { piece, line } = stop
    rest =
      line === undefined
        ? rest.slice(piece + 1)
        : [{ ...rest[piece]!, afterLine: line }, ...rest.slice(piece + 1)]
  }
  expect(found).toEqual(wanted)
  expect(rounds).toBeGreaterThan(1)
})
