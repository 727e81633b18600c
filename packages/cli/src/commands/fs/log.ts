import type { LogEntry } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { formatName } from '../../output/format.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Tell who changed what, and when',
  description:
    'Oldest first, of the whole workspace or of what is at and below a path. With --newest, the changes of one file,\n' +
    'newest first.',
  arguments: { path: { summary: 'A file or directory; everything unless given', optional: true } },
  options: {
    ...workspaceOptions,
    after: { kind: 'count', value: 'SEQ', summary: 'Only what came after this sequence number' },
    actor: { kind: 'text', value: 'ID', summary: 'Only what this key or token did' },
    newest: { kind: 'flag', summary: 'The history of one file, newest first' },
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'So many at most; all unless given' },
  },
  examples: [
    { command: 'cairn fs log --after 120', does: 'what happened since' },
    { command: 'cairn fs log :/plan.md --newest -n 1', does: 'who changed the file last' },
  ],
  async run({ args, options, cli }) {
    const { after, actor, newest, limit = Infinity } = options
    if (newest && (args.path === undefined || after !== undefined || actor !== undefined))
      throw usageError('use --newest', 'it wants a path and no filter', 'Give it a path alone.')
    const { workspace, files, path } = await openRemote(cli, options, args.path ?? ':/')
    const page = { pageSize: Math.max(1, Math.min(limit, 1000)), signal: cli.signal }
    const entries = newest
      ? files.history(path, page)
      : workspace.log({ after, actor, path: args.path === undefined ? undefined : path, ...page })
    let count = 0
    if (limit === 0) return
    for await (const entry of entries) {
      if (cli.isJson) await cli.out.json(entry)
      else for (const line of linesOf(entry, cli.out.isTerminal)) await cli.out.line(line)
      if (++count >= limit) return
    }
  },
})

function linesOf({ seq, time, actor, operations }: LogEntry, isTerminal: boolean): string[] {
  return operations.map(({ op, path = '?', to }) => {
    const other = to === undefined ? '' : ` -> ${formatName(to, isTerminal)}`
    return `${seq}  ${time}  ${actor}  ${op} ${formatName(path, isTerminal)}${other}`
  })
}
