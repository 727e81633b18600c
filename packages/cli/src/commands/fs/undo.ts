import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { countPaths, formatChange } from '../../layers/format.ts'
import { parseTime } from '../../output/parse-time.ts'
import { parseRemote } from '../../remote/location.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Take back what a tool call or a key changed',
  description:
    'Takes it back on top of what is there now, as one change. What came after stays. If a path was changed again since, it is\n' +
    'listed and nothing is done. Reads the whole log. Content that is no longer stored cannot come back.',
  arguments: {},
  options: {
    ...fileOptions,
    'tool-call': { kind: 'text', value: 'ID', summary: 'Take back what this tool call changed' },
    actor: {
      kind: 'text',
      value: 'WHO',
      summary: 'Take back what the key or token with this id changed',
    },
    path: { kind: 'text', value: 'PATH', summary: 'Only what was changed at or below this path' },
    since: { kind: 'text', value: 'TIME', summary: 'Only what was changed at or after this time' },
    'dry-run': { kind: 'flag', summary: 'Show what would change, and change nothing' },
  },
  examples: [
    { command: 'cairn fs undo --tool-call toolu_01 --dry-run', does: 'what would change' },
    { command: 'cairn fs undo --tool-call toolu_01', does: 'take it back' },
    {
      command: 'cairn fs undo --actor tok_4f2a --path :/repo/src --since 2026-11-02T10:00:00Z',
      does: 'only there, and since then',
    },
  ],
  async run({ options, cli }) {
    const { 'tool-call': toolCall, actor, path, 'dry-run': dryRun } = options
    if (toolCall === undefined && actor === undefined)
      throw usageError(
        'undo changes',
        'nothing says whose',
        'Give --tool-call ID or --actor WHO; cairn fs log shows both.',
      )
    const workspace = await openWorkspace(cli, options)
    const receipt = await workspace.undo({
      toolCall,
      actor,
      since: parseTime('--since', options.since),
      dryRun,
      ...(path === undefined ? {} : { path: parseRemote(`:${path.replace(/^:/, '')}`).path }),
      signal: cli.signal,
    })
    if (cli.isJson) return cli.out.json(receipt)
    const changed = countPaths(receipt.paths.length)
    await cli.out.line(
      dryRun ? `would change ${changed}` : `took ${toolCall ?? actor} back: ${changed} changed`,
    )
    for (const change of receipt.paths) await cli.out.line(formatChange(change, cli.out.isTerminal))
  },
})
