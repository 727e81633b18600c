import { z } from 'zod'
import { change, path, place } from '../fields.ts'
import { absolute, layerOf, openPlace } from '../open-place.ts'
import { cutText } from '../text/bounds.ts'
import { changesShown, describeChanges, shortenChange } from '../text/changes.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

const point = z.string().min(1).max(512)

export const diff: Tool = defineTool({
  name: 'diff',
  title: 'Compare two points',
  description:
    'Shows what an attempt (layer) changed since it began, as a unified diff; or what differs between two points: a ' +
    'checkpoint, another attempt, "main", "base", "head", or ATTEMPT@CHECKPOINT. With names_only, just the paths.',
  needs: ['read', 'list'],
  effect: 'reads',
  input: z.object({
    from: point.optional().describe('"base" unless given; on main, a checkpoint'),
    to: point.optional().describe('"head" unless given'),
    path: path.min(1).optional().describe('Only what is there or below'),
    names_only: z.boolean().default(false),
    ...place,
  }),
  output: z.object({
    changes: z.array(change),
    total: z.number().describe('Number of changed paths, also those not listed'),
    patch: z.string().optional(),
  }),
  async run({ from, to, names_only, ...input }, site) {
    const { layers } = openPlace(site, input)
    const layer = layerOf(site, input) ?? 'main'
    if (layer === 'main' && from === undefined)
      throw new ToolError(
        'compare main with its beginning: only attempts have one',
        'Give a checkpoint as "from" (sql: select * from checkpoints), or an attempt as "layer".',
      )
    const below = input.path === undefined ? {} : { path: absolute(input.path) }
    const points = { from, to, ...below, signal: site.signal }
    const all = await layers.diff(layer, { ...points, stat: !names_only })
    const changes = all.slice(0, changesShown).map(shortenChange)
    const list = all.length === 0 ? 'No difference.' : describeChanges(changes, all.length)
    if (names_only || all.length === 0) return { text: list, data: { changes, total: all.length } }
    const whole = await layers.patch(layer, points)
    const { text: patch } = cutText(whole, 'Give "path" to see a part of the diff.')
    return { text: `${list}\n\n${patch}`, data: { changes, total: all.length, patch } }
  },
})
