import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { ChildEnded } from '../../errors.ts'
import { formatName } from '../../output/format.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Find the files that a question is about',
  description:
    'Prints path:line and a passage of each file, the best first (BM25). Words are found in all their forms and inside names:\n' +
    'expire finds sessionExpired. Like grep, it leaves out hidden and binary files and what ignore files name. Ends with 1 when\n' +
    'nothing was found.',
  arguments: {
    question: { summary: 'Some words' },
    path: { summary: 'A file or a directory; :/ unless given', optional: true },
  },
  options: {
    ...readerOptions,
    glob: {
      kind: 'list',
      short: 'g',
      value: 'GLOB',
      summary: 'Only such files; with ! all others',
    },
    type: { kind: 'list', short: 't', value: 'TYPE', summary: 'Only files of a type, such as ts' },
    unrestricted: {
      kind: 'times',
      short: 'u',
      summary: 'Once: ignored files, too; twice: hidden ones',
    },
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'So many results; 10 unless given' },
  },
  examples: [
    { command: "cairn fs search 'where do sessions expire' :/repo", does: 'the best ten files' },
    {
      command: "cairn fs search 'retry budget' :/repo --at tests-pass -t ts -n 3",
      does: 'as it was then',
    },
  ],
  async run({ args: { question, path = ':/' }, options, cli }) {
    const remote = await openRemote(cli, options, path)
    const { results, truncated } = await remote.workspace.search(question, {
      path: remote.path,
      glob: options.glob,
      type: options.type,
      unrestricted: Math.min(2, options.unrestricted),
      limit: options.limit,
      signal: cli.signal,
    })
    for (const [at, result] of results.entries()) {
      if (cli.isJson) {
        await cli.out.json(result)
        continue
      }
      const { isTerminal } = cli.out
      if (at > 0) await cli.out.line('')
      await cli.out.line(`${formatName(result.path, isTerminal)}:${result.line}`)
      for (const line of result.passage.split('\n'))
        await cli.out.line(`    ${formatName(line, isTerminal)}`)
    }
    if (truncated !== null)
      await cli.err.line(`cairn fs search: not every file was searched (${truncated})`)
    if (results.length === 0) throw new ChildEnded(1)
  },
})
