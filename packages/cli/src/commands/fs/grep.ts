import type { GrepOptions } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { ChildEnded, usageError } from '../../errors.ts'
import { openRemote } from '../../remote/open.ts'
import { GrepPrinter } from '../../search/grep-lines.ts'

const { workspace, ...otherOptions } = readerOptions
const { short: _, ...workspaceOption } = workspace

export const command: Command = defineCommand({
  summary: 'Search the lines of files, as rg does',
  description:
    "Prints path:line:column:text. Patterns have ripgrep's syntax, and every pattern runs in linear time.\n" +
    'Like rg, it skips hidden files, binary files, and what .gitignore, .ignore and .rgignore name. It exits\n' +
    'with 1 if nothing matched. With --json it prints what rg --json prints.',
  arguments: {
    pattern: { summary: 'A regular expression' },
    path: { summary: 'A file or a directory (default: :/)', optional: true },
  },
  options: {
    ...otherOptions,
    workspace: workspaceOption,
    'ignore-case': { kind: 'flag', short: 'i', summary: 'Ignore case' },
    'word-regexp': { kind: 'flag', short: 'w', summary: 'Match whole words only' },
    'fixed-strings': {
      kind: 'flag',
      short: 'F',
      summary: 'The pattern is plain text, not a regular expression',
    },
    'invert-match': { kind: 'flag', short: 'v', summary: 'Print lines without a match' },
    count: {
      kind: 'flag',
      short: 'c',
      summary: 'Print only the number of matching lines of each file',
    },
    'files-with-matches': {
      kind: 'flag',
      short: 'l',
      summary: 'Print only the paths of files with a match',
    },
    'after-context': {
      kind: 'count',
      short: 'A',
      value: 'N',
      summary: 'Also print N lines after each match',
    },
    'before-context': {
      kind: 'count',
      short: 'B',
      value: 'N',
      summary: 'Also print N lines before each match',
    },
    around: {
      kind: 'count',
      short: 'C',
      value: 'N',
      summary: 'Also print N lines before and after each match',
    },
    multiline: { kind: 'flag', short: 'U', summary: 'Let a match span several lines' },
    unrestricted: {
      kind: 'times',
      short: 'u',
      summary: 'Search ignored files too; twice: also hidden files; three times: also binary files',
    },
    glob: {
      kind: 'list',
      short: 'g',
      value: 'GLOB',
      summary: 'Only files that match the pattern; with !, only the others',
    },
    type: {
      kind: 'list',
      short: 't',
      value: 'TYPE',
      summary: 'Only files of this type, such as ts',
    },
    'max-count': {
      kind: 'count',
      short: 'm',
      value: 'N',
      summary: 'At most N matching lines of each file',
    },
    changed: { kind: 'flag', summary: 'Only files that the layer changed' },
    attempts: {
      kind: 'text',
      value: 'TAG',
      summary: 'Search all open layers with this tag (k=v); prints layer:path:line:column:text',
    },
  },
  examples: [
    { command: "cairn fs grep 'TokenExpired' :/repo", does: 'path:line:column:text' },
    {
      command: "cairn fs grep -i -w -C2 --glob '*.ts' 'auth(or|enticat)' :/repo --layer fix-auth-a",
      does: 'in a layer, with context lines',
    },
    { command: 'cairn fs grep TODO :/repo --at tests-pass', does: 'at a checkpoint' },
    {
      command: 'cairn fs grep retry :/repo --changed --layer a',
      does: 'only in what the layer changed',
    },
    {
      command: 'cairn fs grep retry :/repo --attempts task=auth',
      does: 'in all attempts of a task',
    },
  ],
  async run({ args: { pattern, path = ':/' }, options, cli }) {
    const wants = options.count ? 'count' : options['files-with-matches'] ? 'files' : 'lines'
    if (options.count && options['files-with-matches'])
      throw usageError('count and list files', 'they exclude each other', 'Give -c or -l.')
    const before = options['before-context'] ?? options.around
    const after = options['after-context'] ?? options.around
    const asked: GrepOptions = {
      wants,
      before,
      after,
      fixed: options['fixed-strings'],
      ignoreCase: options['ignore-case'],
      word: options['word-regexp'],
      multiline: options.multiline,
      invert: options['invert-match'],
      maxCount: options['max-count'],
      unrestricted: Math.min(3, options.unrestricted),
      glob: options.glob,
      type: options.type,
      changed: options.changed,
      attempts: options.attempts,
      signal: cli.signal,
    }
    const remote = await openRemote(cli, options, path)
    const printer = new GrepPrinter(cli.out, wants, (before ?? 0) + (after ?? 0) > 0)
    let isFound = false
    for await (const event of remote.workspace.grep(pattern, { ...asked, path: remote.path })) {
      isFound ||= event.type !== 'summary'
      if (cli.isJson) await cli.out.json(event)
      else await printer.print(event)
      if (event.type === 'summary' && event.data.truncated !== null)
        await cli.err.line(`cairn fs grep: not everything was searched (${event.data.truncated})`)
    }
    if (!isFound) throw new ChildEnded(1)
  },
})
