import type { FileStat, Workspace } from '@cairn/sdk'
import { z } from 'zod'
import { filePath, limit, readPlace } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { answerCharsMax } from '../text/bounds.ts'
import { numberLine } from '../text/numbered-lines.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

export const read: Tool = defineTool({
  name: 'read',
  title: 'Read a file',
  description:
    'Reads a text file with numbered lines, 2000 lines unless limit says otherwise. Use offset (first line, from 1) and ' +
    'limit for parts of long files. Gives the version of the file, which write takes as expected_version.',
  needs: ['read'],
  effect: 'reads',
  input: z.object({
    file_path: filePath,
    offset: z.number().int().min(1).default(1).describe('First line, from 1'),
    limit: limit(2000, 10_000).describe('How many lines'),
    ...readPlace,
  }),
  output: z.object({
    path: z.string(),
    version: z.string(),
    size: z.number().describe('Bytes of the whole file'),
    first_line: z.number(),
    lines: z.number().describe('How many lines this is'),
    content: z.string().describe('The lines, each with its number and a tab before it'),
    next_offset: z.number().optional().describe('Give it as offset to read on; absent at the end'),
  }),
  async run(input, site) {
    const workspace = openPlace(site, input)
    const path = absolute(input.file_path)
    const stat = await workspace.files.stat(path, { signal: site.signal })
    const part = await readPart(workspace, stat, input, site.signal)
    const content = part.lines
      .map((line, index) => numberLine(input.offset + index, line))
      .join('\n')
    const data = {
      path,
      version: stat.etag,
      size: stat.size,
      first_line: input.offset,
      lines: part.lines.length,
      content,
      ...(part.isEnd ? {} : { next_offset: input.offset + part.lines.length }),
    }
    return { text: describe(data), data }
  },
})

interface Part {
  readonly lines: readonly string[]
  readonly isEnd: boolean
}

/** Reads no further than the last line asked for: a part of a huge file costs what comes before it. */
async function readPart(
  { files }: Workspace,
  { path, etag, kind }: FileStat,
  { offset, limit }: { readonly offset: number; readonly limit: number },
  signal: AbortSignal | undefined,
): Promise<Part> {
  if (kind === 'directory')
    throw new ToolError(`read ${path}: it is a directory`, 'List it with ls.')
  const stream = await files.readStream(path, { ifMatch: etag, signal })
  const lines: string[] = []
  let number = 0
  let chars = 0
  for await (const line of linesOf(stream, path)) {
    number++
    if (number < offset) continue
    if (lines.length === limit || chars > answerCharsMax) return { lines, isEnd: false }
    lines.push(line)
    chars += Math.min(line.length, 2100) + 8
  }
  return { lines, isEnd: true }
}

/** Without their ends, and no longer than an answer; a newline at the end begins no line. */
async function* linesOf(stream: ReadableStream<Uint8Array>, path: string): AsyncGenerator<string> {
  const decoder = new TextDecoder()
  let rest = ''
  for await (const bytes of stream) {
    if (bytes.includes(0))
      throw new ToolError(
        `read ${path}: it is not text`,
        'Use a command in a sandbox to look at it.',
      )
    const [first = '', ...parts] = decoder.decode(bytes, { stream: true }).split('\n')
    // Cut before the next piece comes: all of a file may be one line.
    rest = (rest + first).slice(0, answerCharsMax)
    for (const part of parts) {
      yield rest.endsWith('\r') ? rest.slice(0, -1) : rest
      rest = part.slice(0, answerCharsMax)
    }
  }
  rest += decoder.decode()
  if (rest !== '') yield rest
}

function describe(data: {
  readonly path: string
  readonly size: number
  readonly first_line: number
  readonly lines: number
  readonly content: string
  readonly next_offset?: number | undefined
}): string {
  const { path, size, first_line, lines, content, next_offset } = data
  if (lines > 0)
    return next_offset === undefined
      ? content
      : `${content}\n[More lines follow. Read on with offset ${next_offset}.]`
  return size === 0 ? `${path} is empty.` : `${path} has fewer than ${first_line} lines.`
}
