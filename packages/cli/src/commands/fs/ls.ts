import { type FileEntry, isCairnError } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { readerOptions } from '../../context/credentials.ts'
import { formatLong, formatName } from '../../output/format.ts'
import { baseName } from '../../remote/location.ts'
import { openRemote, type Remote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'List a directory',
  description: 'Sorted by the bytes of the names. Directories end with a slash. Times are UTC.',
  arguments: { path: { summary: 'The directory (default: :/)', optional: true } },
  options: {
    ...readerOptions,
    long: {
      kind: 'flag',
      short: 'l',
      summary: 'Also show mode, links, owner, group, size and time',
    },
  },
  examples: [
    { command: 'cairn fs ls', does: 'the root of the workspace' },
    { command: 'cairn fs ls -l :/src', does: 'a directory, with sizes and times' },
    {
      command: 'cairn fs ls :/src --layer fix-auth-b --side target',
      does: 'what a conflicted layer is committed to',
    },
    { command: 'cairn fs ls prod:/src --json', does: 'of another context, for a program' },
  ],
  async run({ args: { path = ':/' }, options, cli }) {
    const remote = await openRemote(cli, options, path)
    let page: FileEntry[] = []
    for await (const entry of entriesOf(remote, cli)) {
      if (cli.isJson) await cli.out.json(entry)
      else page.push(entry)
      // So many are aligned with each other; a directory of a million does not have to fit into memory.
      if (page.length === 1000) {
        await print(page, options.long, cli)
        page = []
      }
    }
    await print(page, options.long, cli)
  },
})

/** A path that is not a directory gives its own entry. */
async function* entriesOf({ files, path }: Remote, { signal }: Cli): AsyncGenerator<FileEntry> {
  try {
    yield* files.list(path, { signal })
  } catch (error) {
    if (!isCairnError(error) || error.errno !== 'ENOTDIR') throw error
    yield { ...(await files.stat(path, { signal })), name: baseName(path) }
  }
}

async function print(page: readonly FileEntry[], isLong: boolean, { out }: Cli): Promise<void> {
  if (isLong) {
    const rows = page.map((entry) => formatLong(entry, out.isTerminal))
    await out.table(rows, [1, 2, 3, 4])
    return
  }
  for (const { name, kind } of page)
    await out.line(formatName(name, out.isTerminal) + (kind === 'directory' ? '/' : ''))
}
