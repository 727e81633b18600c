import { ToolError } from '../tool-error.ts'
import { nearestLines } from './nearest-lines.ts'

export interface Replacement {
  readonly old_string: string
  readonly new_string: string
  readonly replace_all: boolean
}

export interface Replaced {
  readonly text: string
  readonly count: number
  /** Where the first change is: a line number from 1. */
  readonly line: number
}

/** Replaces text that must be unique, unless all of it is meant. `path` is for the message. */
export async function replaceText(
  text: string,
  path: string,
  edit: Replacement,
): Promise<Replaced> {
  const what = `edit ${path}`
  if (edit.old_string === '')
    throw new ToolError(`${what}: old_string is empty`, 'Give the text to replace, or use write.')
  if (edit.old_string === edit.new_string)
    throw new ToolError(
      `${what}: old_string and new_string are equal`,
      'Give a different new_string.',
    )
  const { old_string, new_string } = withLineEnds(text, edit)
  const parts = text.split(old_string)
  const count = parts.length - 1
  if (count === 0) throw await notFound(what, text, edit.old_string)
  if (count > 1 && !edit.replace_all)
    throw new ToolError(
      `${what}: old_string has ${count} matches, at lines ${linesOf(parts, old_string).join(', ')}`,
      'Add lines around it until it is unique, or set replace_all.',
    )
  const line = lineBreaks(parts[0]!) + 1
  return { text: parts.join(new_string), count, line }
}

/** Models write \n. In a file with \r\n the same text is meant. */
function withLineEnds(
  text: string,
  { old_string, new_string }: Replacement,
): Pick<Replacement, 'old_string' | 'new_string'> {
  if (text.includes(old_string) || !text.includes('\r\n')) return { old_string, new_string }
  const convert = (part: string): string => part.replaceAll(/\r?\n/g, '\r\n')
  return { old_string: convert(old_string), new_string: convert(new_string) }
}

async function notFound(what: string, text: string, wanted: string): Promise<ToolError> {
  const nearest = await nearestLines(text, wanted)
  const seen =
    nearest.length === 0
      ? 'no line is similar'
      : `the nearest lines are ${nearest.map((line) => JSON.stringify(line)).join(', ')}`
  return new ToolError(
    `${what}: old_string has 0 matches; ${seen}`,
    'Read these lines and copy them exactly, with their indentation.',
  )
}

function linesOf(parts: readonly string[], found: string): number[] {
  const shown = 10
  let line = 1
  return parts
    .slice(0, -1)
    .slice(0, shown)
    .map((part) => {
      const at = line + lineBreaks(part)
      line = at + lineBreaks(found)
      return at
    })
}

function lineBreaks(text: string): number {
  return text.split('\n').length - 1
}
