import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { kindOfLetter, parseTime, sizesOf, typeLetters } from '../../find/conditions.ts'
import { formatName } from '../../output/format.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Find files below a directory',
  description:
    'The server searches one moment of the workspace and prints the paths that meet all conditions, depth\n' +
    'first. With --json, each entry is what fs stat prints.',
  arguments: { path: { summary: 'Where to search (default: :/)', optional: true } },
  options: {
    ...readerOptions,
    name: { kind: 'text', value: 'GLOB', summary: 'Name, as a pattern: * ? [a-z] {this,that}' },
    type: { kind: 'choice', choices: typeLetters, summary: 'Only files, directories or symlinks' },
    size: {
      kind: 'text',
      value: '±N',
      summary: 'Size in bytes: larger (+10k), smaller (-10k) or exactly (10k); k, M, G',
    },
    newer: {
      kind: 'text',
      value: 'TIME',
      summary: 'Modified after this date or time, or within this duration: 7d',
    },
    older: {
      kind: 'text',
      value: 'TIME',
      summary: 'Modified before this date or time, or longer ago',
    },
    tag: {
      kind: 'list',
      value: 'KEY[=VALUE]',
      summary: 'Has this tag; can be repeated',
    },
    'changed-by': {
      kind: 'text',
      value: 'WHO',
      summary: 'Last changed by the key with this name or the token with this id',
    },
  },
  examples: [
    { command: "cairn fs find :/src -name '*.ts'", does: 'by name' },
    {
      command: 'cairn fs find -type f -size +1M -older 30d',
      does: 'large files that did not change for 30 days',
    },
    { command: 'cairn fs find :/repo -tag agent=a -newer 2h', does: 'by tag and time' },
    { command: 'cairn fs find :/repo -changed-by alice --layer try-a', does: 'in a layer' },
  ],
  async run({ args: { path = ':/' }, options, cli }) {
    const now = new Date()
    const { name, type, size, newer, older, tag } = options
    const remote = await openRemote(cli, options, path)
    const entries = remote.workspace.find({
      path: remote.path,
      name,
      kind: type && kindOfLetter[type],
      ...(size === undefined ? {} : sizesOf(size)),
      newer: newer === undefined ? undefined : parseTime('-newer', newer, now),
      older: older === undefined ? undefined : parseTime('-older', older, now),
      tag,
      changedBy: options['changed-by'],
      signal: cli.signal,
    })
    for await (const entry of entries)
      if (cli.isJson) await cli.out.json(entry)
      else await cli.out.line(formatName(entry.path, cli.out.isTerminal))
  },
})
