import type { FileStat } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { formatTags } from '../../layers/format.ts'
import { formatMode, formatName, formatTime } from '../../output/format.ts'
import { formatTable } from '../../output/table.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Show metadata of a path',
  arguments: { path: { summary: 'The path' } },
  options: {
    ...readerOptions,
    output: {
      kind: 'choice',
      short: 'o',
      choices: ['text', 'json'],
      summary: 'Format of the output (default: text)',
    },
    'no-follow': { kind: 'flag', summary: 'Show a symlink itself, not its target' },
  },
  examples: [
    { command: 'cairn fs stat :/plan.md', does: 'kind, size, mode, times and etag' },
    { command: 'cairn fs stat -o json :/plan.md', does: 'for a program; the same as --json' },
  ],
  async run({ args, options, cli }) {
    const { files, path } = await openRemote(cli, options, args.path)
    const follow = !options['no-follow']
    const stat = await files.stat(path, { follow, signal: cli.signal })
    if (cli.isJson || options.output === 'json') return cli.out.json(stat)
    for (const line of formatTable(rows(stat, cli.out.isTerminal))) await cli.out.line(line)
  },
})

function rows(stat: FileStat, isTerminal: boolean): string[][] {
  const { target, tags } = stat
  return [
    ['path:', formatName(stat.path, isTerminal)],
    ['kind:', stat.kind],
    ...(target === undefined ? [] : [['target:', formatName(target, isTerminal)]]),
    ['size:', String(stat.size)],
    ['mode:', `${stat.mode} ${formatMode(stat.kind, stat.mode)}`],
    ['owner:', `${stat.uid}:${stat.gid}`],
    ['links:', String(stat.nlink)],
    ['inode:', String(stat.ino)],
    ['modified:', `${formatTime(stat.mtimeNs)} UTC`],
    ['changed:', `${formatTime(stat.ctimeNs)} UTC`],
    ...(tags ? [['tags:', formatName(formatTags(tags), isTerminal)]] : []),
    ['etag:', stat.etag],
  ]
}
