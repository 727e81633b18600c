import type { LogEntry } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { formatName } from '../../output/format.ts'
import type { Output } from '../../output/output.ts'
import { parseTime } from '../../output/parse-time.ts'
import { pagerOption } from '../../output/pager.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Tell who changed what, and when',
  description:
    'Of the whole workspace, or of what is or was at and below a path: also of files that have gone, and of what layers did before\n' +
    'they were committed. Oldest first unless --newest is given. Times are ISO 8601: 2026-11-02, or 2026-11-02T10:00:00Z.',
  arguments: { path: { summary: 'A file or directory; everything unless given', optional: true } },
  options: {
    ...workspaceOptions,
    after: { kind: 'count', value: 'SEQ', summary: 'Only what came after this sequence number' },
    before: { kind: 'count', value: 'SEQ', summary: 'Only what came before this sequence number' },
    since: { kind: 'text', value: 'TIME', summary: 'Only what happened then or later' },
    until: { kind: 'text', value: 'TIME', summary: 'Only what happened earlier' },
    actor: {
      kind: 'text',
      value: 'WHO',
      summary: 'Only what the key of this name or token of this id did',
    },
    newest: { kind: 'flag', summary: 'Newest first' },
    ...pagerOption,
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'So many at most; all unless given' },
  },
  examples: [
    { command: 'cairn fs log --after 120', does: 'what happened since' },
    { command: 'cairn fs log :/plan.md --newest -n 1', does: 'who changed the file last' },
  ],
  async run({ args, options, cli }) {
    const { after, before, actor, newest, limit = Infinity } = options
    const [since, until] = [
      parseTime('--since', options.since),
      parseTime('--until', options.until),
    ]
    const { workspace, path } = await openRemote(cli, options, args.path ?? ':/')
    const entries = workspace.log({
      order: newest ? 'newest' : 'oldest',
      after,
      before,
      since,
      until,
      actor,
      path: args.path === undefined ? undefined : path,
      paths: args.path === undefined ? undefined : 'then',
      pageSize: Math.max(1, Math.min(limit, 1000)),
      signal: cli.signal,
    })
    let count = 0
    if (limit === 0) return
    if (!options['no-pager']) await cli.out.page()
    for await (const entry of entries) {
      if (cli.isJson) await cli.out.json(entry)
      else for (const line of linesOf(entry, cli.out)) await cli.out.line(line)
      if (++count >= limit) return
    }
  },
})

/** One line for each operation. */
export function linesOf(entry: LogEntry, out: Output): string[] {
  const { isTerminal } = out
  const { seq, time, actor, toolCall, layer, operations } = entry
  const place = layer === undefined ? `${seq}` : `${layer}:${seq}`
  const who = toolCall === undefined ? actor : `${actor} (tool call ${toolCall})`
  return operations.map(({ op, path = '?', to }) => {
    const other = to === undefined ? '' : ` -> ${formatName(to, isTerminal)}`
    const when = out.paint(isTerminal ? out.when(time) : time, 'dim')
    const where = `${formatName(path, isTerminal)}${other}`
    return `${out.paint(place, 'yellow')}  ${when}  ${out.paint(who, 'cyan')}  ${op} ${where}`
  })
}
