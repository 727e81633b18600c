// A terminal session as a picture. It draws its own dark window, so it reads on white and on black.
import { columns } from './play.mjs'

/** @typedef {import('./play.mjs').Played} Played */
/** @typedef {{ text: string, style: string }} Span */

const [columnPx, linePx, marginPx] = [7.9, 19, 16]
/** Typing takes a moment, and so does an answer. */
const [typingMs, answerMs] = [900, 500]

/**
 * Its lines appear one after the other, once; where nothing moves, all of them are there.
 *
 * @param {readonly Played[]} session
 * @param {string} label what a reader hears who does not see it
 */
export function render(session, label) {
  const rows = session.flatMap((played, at) => rowsOf(played, at * (typingMs + answerMs)))
  const width = Math.ceil(columns * columnPx + 2 * marginPx)
  const height = Math.ceil(rows.length * linePx + 2 * marginPx)
  const lines = rows.map(({ spans, atMs }, row) => {
    const y = marginPx + 14 + row * linePx
    return `  <text x="${marginPx}" y="${y}" style="animation-delay:${atMs}ms">${spans.map(draw).join('')}</text>`
  })
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" xml:space="preserve" role="img" aria-label="${escapeXml(label)}">
  <!-- Made by: npm run record -->
  <style>
    text { font: 13px ui-monospace, SFMono-Regular, Menlo, Consolas, "DejaVu Sans Mono", monospace; fill: #e6edf3; animation: show 1ms both }
    .prompt, .green { fill: #3fb950 }
    .comment { fill: #8b949e }
    .typed, .bold { font-weight: 600 }
    .yellow { fill: #d29922 }
    .red { fill: #f85149 }
    .cyan { fill: #39c5cf }
    @keyframes show { from { opacity: 0 } to { opacity: 1 } }
    @media (prefers-reduced-motion: reduce) { text { animation: none } }
  </style>
  <rect x="1" y="1" width="${width - 2}" height="${height - 2}" rx="8" fill="#0d1117" stroke="#6e7681"/>
${lines.join('\n')}
</svg>
`
}

/**
 * @param {Played} played
 * @param {number} startMs
 */
function rowsOf({ command, lines }, startMs) {
  const [, typed = '', comment = ''] = /^(.*?)(\s+#.*)?$/.exec(command) ?? []
  /** @type {Span[]} */
  const prompt = [
    { text: '$ ', style: 'prompt' },
    { text: typed, style: 'typed' },
    { text: comment, style: 'comment' },
  ]
  const answers = lines.flatMap((line) => wrap(spansOf(line)))
  return [
    ...wrap(prompt).map((spans) => ({ spans, atMs: startMs })),
    ...answers.map((spans) => ({ spans, atMs: startMs + typingMs })),
  ]
}

/** What a terminal calls its colours, in the numbers of ANSI. */
const styles = new Map([
  ['1', 'bold'],
  ['2', 'comment'],
  ['31', 'red'],
  ['32', 'green'],
  ['33', 'yellow'],
  ['36', 'cyan'],
])

/**
 * @param {string} line
 * @returns {Span[]}
 */
function spansOf(line) {
  const [first = '', ...rest] = line.split('\u001b[')
  const spans = rest.map((piece) => {
    const [, code = '', text = ''] = /^([\d;]*)m(.*)$/.exec(piece) ?? []
    return { text, style: styles.get(code) ?? '' }
  })
  return [{ text: first, style: '' }, ...spans]
}

/**
 * A line that is too long goes on in the next one, as in a terminal.
 *
 * @param {readonly Span[]} spans
 */
function wrap(spans) {
  /** @type {Span[][]} */
  const rows = [[]]
  let room = columns
  for (const { text, style } of spans) {
    for (let rest = text; rest !== '';) {
      if (room === 0) {
        rows.push([])
        room = columns
      }
      const fits = rest.slice(0, room)
      rows.at(-1)?.push({ text: fits, style })
      room -= fits.length
      rest = rest.slice(fits.length)
    }
  }
  return rows
}

/** @param {Span} span */
function draw({ text, style }) {
  if (text === '') return ''
  const content = escapeXml(text)
  return style === '' ? content : `<tspan class="${style}">${content}</tspan>`
}

/** @param {string} text */
function escapeXml(text) {
  return text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('"', '&quot;')
}

/**
 * What a reader of the picture sees, a line each.
 *
 * @param {string} svg
 */
export function textOf(svg) {
  return [...svg.matchAll(/<text [^>]*>(.*)<\/text>/g)].map(([, drawn = '']) =>
    drawn
      .replaceAll(/<[^>]*>/g, '')
      .replaceAll('&lt;', '<')
      .replaceAll('&quot;', '"')
      .replaceAll('&amp;', '&'),
  )
}

/**
 * Without what differs from run to run: numbers, ids, times.
 *
 * @param {readonly string[]} lines
 */
export function withoutNumbers(lines) {
  return lines
    .join('')
    .replaceAll(/\b[0-9a-f]{16,}\b/g, '#')
    .replaceAll(/_[0-9a-f]{24}\b/g, '_#')
    .replaceAll(/\d+/g, '0')
}
