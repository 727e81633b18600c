import type { LogEntry } from '@cairn/sdk'
import { z } from 'zod'
import { cursor, limit, next, path, place } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

const operationsShown = 20

const entry = z.object({
  seq: z.number(),
  time: z.string(),
  actor: z.string(),
  tool_call: z.string().optional(),
  operations: z.array(
    z.object({ op: z.string(), path: z.string().optional(), to: z.string().optional() }),
  ),
  more: z.number().describe('How many operations are not listed'),
})

export const log: Tool = defineTool({
  name: 'log',
  title: 'Show the history',
  description:
    'Shows who changed what, newest first: each change with its actor, time, tool call and paths. With path, only what ' +
    'concerns that file or directory.',
  needs: ['read', 'list'],
  effect: 'reads',
  input: z.object({
    path: path.min(1).optional().describe('Only what concerns this file or directory'),
    actor: z.string().min(1).max(256).optional().describe('Only what this actor did'),
    limit: limit(30, 200),
    cursor,
    ...place,
  }),
  output: z.object({ entries: z.array(entry), next }),
  async run({ path, actor, limit, cursor, ...where }, site) {
    const entries: z.output<typeof entry>[] = []
    let next: string | undefined
    const options = {
      order: 'newest',
      before: parseCursor(cursor),
      ...(path === undefined ? {} : { path: absolute(path) }),
      actor,
      pageSize: limit + 1,
      signal: site.signal,
    } as const
    for await (const one of openPlace(site, where).log(options)) {
      if (entries.length === limit) {
        next = String(entries.at(-1)!.seq)
        break
      }
      entries.push(shorten(one))
    }
    const rest = next === undefined ? '' : `\n[Older changes follow. cursor: ${next}]`
    const text = entries.length === 0 ? 'No change.' : entries.map(line).join('\n') + rest
    return { text, data: { entries, ...(next === undefined ? {} : { next }) } }
  },
})

function parseCursor(cursor: string | undefined): number | undefined {
  if (cursor === undefined) return undefined
  if (/^\d{1,15}$/.test(cursor)) return Number(cursor)
  throw new ToolError(`go on with log: '${cursor}' is no cursor of it`, 'Give "next" as it was.')
}

function shorten({ seq, time, actor, toolCall, operations }: LogEntry): z.output<typeof entry> {
  const shown = operations.slice(0, operationsShown).map(({ op, path, to }) => ({
    op,
    ...(path === undefined ? {} : { path }),
    ...(to === undefined ? {} : { to }),
  }))
  return {
    seq,
    time,
    actor,
    ...(toolCall === undefined ? {} : { tool_call: toolCall }),
    operations: shown,
    more: operations.length - shown.length,
  }
}

function line({ seq, time, actor, tool_call, operations, more }: z.output<typeof entry>): string {
  const call = tool_call === undefined ? '' : ` [${tool_call}]`
  const done = operations
    .map(({ op, path = '', to }) => `${op} ${path}${to === undefined ? '' : ` -> ${to}`}`.trim())
    .join(', ')
  return `${seq}  ${time}  ${actor}${call}  ${done}${more > 0 ? `, ${more} more` : ''}`
}
