import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import type { ResolveChoice } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { conflictLines } from '../../layers/conflicts.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Resolve the conflicts at a path',
  description:
    "The next commit or rebase goes by it. When what the layer is committed to changes the path again, that is a new conflict; and so it is when the layer does, unless the layer's side was kept.",
  arguments: {
    layer: { summary: 'Id, name or tag of a layer, or a checkpoint' },
    path: { summary: 'The path; relative to that of the layer unless it begins with a slash' },
  },
  options: {
    ...workspaceOptions,
    ours: { kind: 'flag', summary: 'Keep the version of the layer' },
    theirs: { kind: 'flag', summary: 'Keep the version of the parent' },
    with: {
      kind: 'text',
      value: 'FILE',
      summary: 'Use this local file instead; - for standard input',
    },
  },
  examples: [
    {
      command: 'cairn fs layer resolve fix-auth-b src/auth.ts --ours',
      does: 'keep the version of the layer',
    },
    {
      command: 'cairn fs layer resolve fix-auth-b src/auth.ts --with ./auth.ts',
      does: 'use a merged file',
    },
  ],
  async run({ args: { layer, path }, options, cli }) {
    const choice = await readChoice(cli, options)
    const { layers } = await openWorkspace(cli, options)
    const request = { signal: cli.signal }
    const receipt = await layers.resolve(layer, path.replace(/^:/, ''), choice, request)
    if (cli.isJson) return cli.out.json(receipt)
    const { resolved, conflicts } = receipt
    for (const conflict of resolved)
      await cli.out.line(`decided ${conflict.path} (${conflict.kind})`)
    const next =
      conflicts.length > 0
        ? conflictLines(layer, conflicts, cli.out.isTerminal)
        : [commandLine`next: cairn fs layer rebase ${layer}, or cairn fs layer commit ${layer}`]
    for (const line of next) await cli.out.line(line)
  },
})

async function readChoice(
  cli: Cli,
  options: { readonly ours: boolean; readonly theirs: boolean; readonly with: string | undefined },
): Promise<ResolveChoice> {
  const given = [options.ours, options.theirs, options.with !== undefined].filter(Boolean)
  if (given.length !== 1)
    throw usageError(
      'resolve the conflict',
      'it must be told how',
      'Give one of --ours, --theirs and --with FILE.',
    )
  if (options.with === undefined) return options.ours ? 'layer' : 'target'
  const content = options.with === '-' ? await buffer(cli.stdin) : await readFile(options.with)
  return { content }
}
