import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { kindOfLetter, parseTime, sizesOf, typeLetters } from '../../find/conditions.ts'
import { formatName } from '../../output/format.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Find files below a directory',
  description:
    'All conditions must hold. The server looks, at one moment of the workspace. Prints the paths, depth first; with --json, what\n' +
    'fs stat tells of each.',
  arguments: { path: { summary: 'Where to look; :/ unless given', optional: true } },
  options: {
    ...readerOptions,
    name: { kind: 'text', value: 'GLOB', summary: 'The last name matches: * ? [a-z] {this,that}' },
    type: { kind: 'choice', choices: typeLetters, summary: 'A file, a directory, a symlink' },
    size: {
      kind: 'text',
      value: '±N',
      summary: 'Larger (+), smaller (-) or exactly so many bytes; k, M, G',
    },
    newer: {
      kind: 'text',
      value: 'TIME',
      summary: 'Modified after a day, a time, or so long ago: 7d',
    },
    older: { kind: 'text', value: 'TIME', summary: 'Modified before it' },
    tag: {
      kind: 'list',
      value: 'KEY[=VALUE]',
      summary: 'Has this tag. May be given several times',
    },
    'changed-by': {
      kind: 'text',
      value: 'WHO',
      summary: 'Changed last by the key of this name or the token of this id',
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
