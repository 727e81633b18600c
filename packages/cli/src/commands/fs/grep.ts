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
    "Prints path:line:column:text. Patterns have ripgrep's syntax; no pattern takes more than linear time. Like rg, it leaves out\n" +
    'hidden and binary files and what .gitignore, .ignore and .rgignore name. Ends with 1 when nothing was found. With --json it\n' +
    'prints what rg --json prints.',
  arguments: {
    pattern: { summary: 'A regular expression' },
    path: { summary: 'A file or a directory; :/ unless given', optional: true },
  },
  options: {
    ...otherOptions,
    workspace: workspaceOption,
    'ignore-case': { kind: 'flag', short: 'i', summary: 'Upper and lower case are the same' },
    'word-regexp': { kind: 'flag', short: 'w', summary: 'Only whole words' },
    'fixed-strings': { kind: 'flag', short: 'F', summary: 'The pattern is plain text' },
    'invert-match': { kind: 'flag', short: 'v', summary: 'Lines without a match' },
    count: { kind: 'flag', short: 'c', summary: 'Only how many lines each file has' },
    'files-with-matches': { kind: 'flag', short: 'l', summary: 'Only the paths' },
    'after-context': { kind: 'count', short: 'A', value: 'N', summary: 'So many lines after it' },
    'before-context': { kind: 'count', short: 'B', value: 'N', summary: 'So many lines before it' },
    around: { kind: 'count', short: 'C', value: 'N', summary: 'So many before and after it' },
    multiline: { kind: 'flag', short: 'U', summary: 'A match may go over several lines' },
    unrestricted: {
      kind: 'times',
      short: 'u',
      summary: 'Once: ignored files, too; twice: hidden ones; three times: binary ones',
    },
    glob: {
      kind: 'list',
      short: 'g',
      value: 'GLOB',
      summary: 'Only such files; with ! all others',
    },
    type: { kind: 'list', short: 't', value: 'TYPE', summary: 'Only files of a type, such as ts' },
    'max-count': { kind: 'count', short: 'm', value: 'N', summary: 'So many lines of each file' },
    changed: { kind: 'flag', summary: 'Only what the layer changed' },
    attempts: {
      kind: 'text',
      value: 'TAG',
      summary: 'In all open layers with a tag k=v; prints layer:path:line:column:text',
    },
  },
  examples: [
    { command: "cairn fs grep 'TokenExpired' :/repo", does: 'path:line:column:text' },
    {
      command: "cairn fs grep -i -w -C2 --glob '*.ts' 'auth(or|enticat)' :/repo --layer fix-auth-a",
      does: 'in an attempt, with context',
    },
    { command: 'cairn fs grep TODO :/repo --at tests-pass', does: 'as it was then' },
    { command: 'cairn fs grep retry :/repo --changed --layer a', does: 'only in what it changed' },
    { command: 'cairn fs grep retry :/repo --attempts task=auth', does: 'in all attempts at once' },
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
