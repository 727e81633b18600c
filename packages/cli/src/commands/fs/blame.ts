import type { Blame, BlameOrigin, BlamePart } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { formatName } from '../../output/format.ts'
import { formatTable } from '../../output/table.ts'
import type { Output } from '../../output/output.ts'
import { pagerOption } from '../../output/pager.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Show who last changed each line of a file',
  description:
    'Follows renames, saves by rename, and commits of layers, back to the beginning of the log. For a deleted\n' +
    'file it shows the last content and who deleted it. A binary file has one entry.',
  arguments: { path: { summary: 'The file' } },
  options: { ...fileOptions, ...pagerOption },
  examples: [
    { command: 'cairn fs blame :/src/auth.ts', does: 'line by line' },
    { command: 'cairn fs blame :/src/auth.ts --layer fix-auth-a --json', does: 'in a layer' },
  ],
  async run({ args, options, cli }) {
    const { workspace, path } = await openRemote(cli, options, args.path)
    const blame = await workspace.blame(path, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(blame)
    if (blame.deleted)
      await cli.err.line(`deleted: ${originColumns(blame.deleted, cli.out).join('  ')}`)
    const rows = blame.parts.flatMap((part) => rowsOf(blame, part, cli.out))
    if (!options['no-pager']) await cli.out.page()
    for (const line of formatTable(rows, [0, 4]))
      await cli.out.line(formatName(line, cli.out.isTerminal))
  },
})

function rowsOf({ origins, size }: Blame, part: BlamePart, out: Output): string[][] {
  const { line, text, origin } = part
  const columns = originColumns(origin === undefined ? undefined : origins[origin], out)
  if (line === undefined || text === undefined) return [[...columns, `${size} bytes`]]
  const lines = text.split('\n')
  if (lines.at(-1) === '') lines.pop()
  return lines.map((each, index) => [...columns, String(line + index), each])
}

function originColumns(origin: BlameOrigin | undefined, out: Output): string[] {
  if (!origin) return ['-', 'before the log', '', '']
  const { seq, layer, time, actor, toolCall = '', op } = origin
  const place = layer === undefined ? String(seq) : `${layer}:${seq}`
  const who = toolCall === '' ? actor : `${actor} (${toolCall})`
  return [place, out.when(time), who, op]
}
