import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import {
  byName,
  bySize,
  byTime,
  byType,
  type Condition,
  typeLetters,
} from '../../find/conditions.ts'
import { formatName } from '../../output/format.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Find files below a directory',
  description: 'All conditions must hold. Prints the paths, depth first.',
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
  },
  examples: [
    { command: "cairn fs find :/src -name '*.ts'", does: 'by name' },
    {
      command: 'cairn fs find -type f -size +1M -older 30d',
      does: 'large files that did not change for 30 days',
    },
  ],
  async run({ args: { path = ':/' }, options, cli }) {
    const now = new Date()
    const { name, type, size, newer, older } = options
    const conditions: Condition[] = [
      ...(name === undefined ? [] : [byName(name)]),
      ...(type === undefined ? [] : [byType(type)]),
      ...(size === undefined ? [] : [bySize(size)]),
      ...(newer === undefined ? [] : [byTime('-newer', newer, now)]),
      ...(older === undefined ? [] : [byTime('-older', older, now)]),
    ]
    const remote = await openRemote(cli, options, path)
    for await (const entry of remote.files.walk(remote.path, { signal: cli.signal })) {
      if (!conditions.every((condition) => condition(entry))) continue
      if (cli.isJson) await cli.out.json(entry)
      else await cli.out.line(formatName(entry.path, cli.out.isTerminal))
    }
  },
})
