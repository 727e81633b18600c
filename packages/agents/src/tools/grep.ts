import type { GrepEvent, GrepOptions, GrepText, Workspace } from '@cairn/sdk'
import { z } from 'zod'
import { cursor, limit, next, path, readPlace } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { answerCharsMax, cutLine } from '../text/bounds.ts'
import { defineTool, type Tool } from '../tool.ts'

const contextMax = 50
const context = z.number().int().min(0).max(contextMax).optional()

const input = z.object({
  pattern: z.string().min(1).max(4096).describe("A regular expression in ripgrep's syntax"),
  path: path.default('/').describe('A file, or a directory with everything below it'),
  glob: z.string().min(1).max(1000).optional().describe('Only such files: *.ts, !*.test.ts'),
  type: z.string().min(1).max(100).optional().describe('Only files of a type: ts, py, rust'),
  output_mode: z
    .enum(['files_with_matches', 'content', 'count'])
    .default('files_with_matches')
    .describe('Paths, matching lines, or how many lines of each file match'),
  '-i': z.boolean().default(false).describe('Upper and lower case are the same'),
  '-A': context.describe('Lines after each match; for content'),
  '-B': context.describe('Lines before each match; for content'),
  '-C': context.describe('Lines before and after each match; for content'),
  multiline: z.boolean().default(false).describe('A match may go over several lines'),
  head_limit: limit(200, 1000).describe('Matching lines, or files'),
  cursor,
  ...readPlace,
})

type Input = z.output<typeof input>

const line = z.object({
  path: z.string(),
  line: z.number(),
  text: z.string(),
  is_match: z.boolean().describe('False for a line of context'),
})

interface Found {
  readonly files: string[]
  readonly counts: { path: string; count: number }[]
  readonly lines: z.output<typeof line>[]
  next: string | undefined
}

export const grep: Tool = defineTool({
  name: 'grep',
  title: 'Search in files',
  description:
    'Searches the content of files with a regular expression, as ripgrep does: it leaves out hidden and binary files and ' +
    'what .gitignore names. Gives paths, or with output_mode "content" the lines. Long results come in pages: give ' +
    '"next" as cursor. To find files by name, use glob.',
  needs: ['search'],
  effect: 'reads',
  input,
  output: z.object({
    files: z.array(z.string()).optional().describe('With files_with_matches'),
    counts: z.array(z.object({ path: z.string(), count: z.number() })).optional(),
    lines: z.array(line).optional().describe('With content'),
    next,
  }),
  async run(asked, site) {
    const workspace = openPlace(site, asked)
    // An answer that is too long is asked for again in half: only the server can say where a page ends.
    for (let most = asked.head_limit; ; most = Math.ceil(most / 2)) {
      const found = await search(workspace, asked, most, site.signal)
      const text = textOf(asked, found)
      if (text.length > answerCharsMax && most > 1) continue
      const { files, counts, lines, next } = found
      const { output_mode: mode } = asked
      const data = mode === 'content' ? { lines } : mode === 'count' ? { counts } : { files }
      return { text, data: { ...data, ...(next === undefined ? {} : { next }) } }
    }
  },
})

async function search(
  workspace: Workspace,
  asked: Input,
  limit: number,
  signal: AbortSignal | undefined,
): Promise<Found> {
  const isContent = asked.output_mode === 'content'
  const around = (own: number | undefined): number => (isContent ? (own ?? asked['-C'] ?? 0) : 0)
  const options: GrepOptions = {
    path: absolute(asked.path),
    wants: wants[asked.output_mode],
    ignoreCase: asked['-i'],
    multiline: asked.multiline,
    before: around(asked['-B']),
    after: around(asked['-A']),
    ...(asked.glob === undefined ? {} : { glob: [asked.glob] }),
    ...(asked.type === undefined ? {} : { type: [asked.type] }),
    cursor: asked.cursor,
    limit,
    signal,
  }
  const found: Found = { files: [], counts: [], lines: [], next: undefined }
  for await (const event of workspace.grep(asked.pattern, options)) take(found, event)
  return found
}

const wants = { files_with_matches: 'files', content: 'lines', count: 'count' } as const

function take(found: Found, { type, data }: GrepEvent): void {
  if (type === 'summary') found.next = data.next
  else if (type === 'begin') found.files.push(absolute(textOfBytes(data.path)))
  else if (type === 'end')
    found.counts.push({
      path: absolute(textOfBytes(data.path)),
      count: data.stats.matched_lines,
    })
  else {
    const texts = textOfBytes(data.lines)
      .replace(/\r?\n$/, '')
      .split(/\r?\n/)
    const path = absolute(textOfBytes(data.path))
    for (const [index, text] of texts.entries())
      found.lines.push({
        path,
        line: data.line_number + index,
        text: cutLine(text),
        is_match: type === 'match',
      })
  }
}

/** What is not UTF-8 is shown as well as it goes. */
function textOfBytes(text: GrepText): string {
  if ('text' in text) return text.text
  const bytes = Uint8Array.from(atob(text.bytes), (char) => char.charCodeAt(0))
  return new TextDecoder().decode(bytes)
}

function textOf({ pattern, output_mode: mode }: Input, found: Found): string {
  const { files, counts, lines, next } = found
  const shown =
    mode === 'content'
      ? lines.map(({ path, line, text, is_match }) => {
          const mark = is_match ? ':' : '-'
          return `${path}${mark}${line}${mark}${text}`
        })
      : mode === 'count'
        ? counts.map(({ path, count }) => `${path}:${count}`)
        : files
  const rest = next === undefined ? [] : [`[There may be more than these. cursor: ${next}]`]
  if (shown.length > 0) return [...shown, ...rest].join('\n')
  return next === undefined
    ? `Nothing matches ${cutLine(pattern)}.`
    : `[Nothing matches so far; the search is not at its end. cursor: ${next}]`
}
