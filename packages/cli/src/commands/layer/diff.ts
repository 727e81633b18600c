import type { LayerChange } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { formatChange } from '../../layers/format.ts'
import { type Colour, paintPatch } from '../../output/colour.ts'
import type { Output } from '../../output/output.ts'
import { pagerOption } from '../../output/pager.ts'
import { openWorkspace } from '../../remote/open.ts'

const point = 'base, head, parent, a checkpoint, another layer, or LAYER@CHECKPOINT'

export const command: Command = defineCommand({
  summary: 'Show the differences between two points of layers',
  description:
    'A added, M modified, D deleted, R renamed, T type changed, P permissions or other attributes changed. A point\n' +
    `is ${point}.`,
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: {
    ...workspaceOptions,
    from: { kind: 'text', value: 'POINT', summary: 'The point to compare with (default: base)' },
    to: { kind: 'text', value: 'POINT', summary: 'The point that is compared (default: head)' },
    path: { kind: 'text', value: 'PATH', summary: 'Only changes at or below this path' },
    stat: { kind: 'flag', summary: 'Count added and removed lines' },
    ...pagerOption,
    patch: { kind: 'flag', short: 'p', summary: 'Print a unified diff, as git apply accepts it' },
  },
  examples: [
    { command: 'cairn fs layer diff fix-auth-a', does: 'what the layer changed' },
    {
      command: 'cairn fs layer diff fix-auth-a --from tests-pass --patch',
      does: 'since a checkpoint',
    },
    {
      command: 'cairn fs layer diff fix-auth-a --to fix-auth-b --stat',
      does: 'between two attempts',
    },
  ],
  async run({ args: { layer }, options, cli }) {
    const { from, to, stat, patch } = options
    if (patch && (stat || cli.isJson))
      throw usageError('print a patch', 'it is neither JSON nor a list', 'Give --patch alone.')
    const { layers } = await openWorkspace(cli, options)
    const path = options.path?.replace(/^:/, '')
    const points = { from, to, path, signal: cli.signal }
    if (!options['no-pager']) await cli.out.page()
    if (patch) {
      const text = await layers.patch(layer, points)
      return cli.out.raw(cli.out.hasColour ? paintPatch(text) : text)
    }
    for (const change of await layers.diff(layer, { ...points, stat }))
      if (cli.isJson) await cli.out.json(change)
      else await cli.out.line(lineOf(change, cli.out))
  },
})

const colours: Readonly<Partial<Record<LayerChange['kind'], Colour>>> = {
  added: 'green',
  deleted: 'red',
  modified: 'yellow',
}

function lineOf(change: LayerChange, out: Output): string {
  const text = formatChange(change, out.isTerminal)
  const colour = colours[change.kind]
  return (colour === undefined ? text : out.paint(text, colour)) + lines(change)
}

function lines({ added, removed }: LayerChange): string {
  return added === undefined ? '' : `  +${added} -${removed ?? 0}`
}
