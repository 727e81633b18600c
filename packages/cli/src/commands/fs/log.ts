import type { LogEntry } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { formatName } from '../../output/format.ts'
import type { Output } from '../../output/output.ts'
import { parseTime } from '../../output/parse-time.ts'
import { pagerOption } from '../../output/pager.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Show who changed what, and when',
  description:
    'Shows the changes of the whole workspace, or of a path and everything that is or was below it: also changes of deleted\n' +
    'files, and those that layers made before they were committed. Oldest first, unless you give --newest. Times are ISO\n' +
    '8601: 2026-11-02, or 2026-11-02T10:00:00Z.',
  arguments: { path: { summary: 'A file or directory (default: everything)', optional: true } },
  options: {
    ...fileOptions,
    after: { kind: 'count', value: 'SEQ', summary: 'Only changes after this sequence number' },
    before: { kind: 'count', value: 'SEQ', summary: 'Only changes before this sequence number' },
    since: { kind: 'text', value: 'TIME', summary: 'Only entries from this time on' },
    until: { kind: 'text', value: 'TIME', summary: 'Only entries before this time' },
    actor: {
      kind: 'text',
      value: 'WHO',
      summary: 'Only changes by the key with this name or the token with this id',
    },
    newest: { kind: 'flag', summary: 'Newest first' },
    ...pagerOption,
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'At most N (default: all)' },
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
