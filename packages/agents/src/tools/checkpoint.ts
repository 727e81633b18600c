import { z } from 'zod'
import { change, place } from '../fields.ts'
import { layerOf, openPlace } from '../open-place.ts'
import { count } from '../text/bounds.ts'
import { changesShown, describeChanges, shortenChange } from '../text/changes.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

const label = z.string().min(1).max(128)

export const checkpoint: Tool = defineTool({
  name: 'checkpoint',
  title: 'Make a checkpoint',
  description:
    'Remembers the workspace or attempt as it is now under a label. It costs nothing. Make one before a risky change: ' +
    'rollback goes back to it, diff compares with it, and read takes it as "at".',
  needs: ['write'],
  effect: 'changes',
  input: z.object({ label: label.optional(), ...place }),
  output: z.object({ id: z.string(), label: z.string(), seq: z.number() }),
  async run({ label, ...where }, site) {
    const layer = layerOf(site, where) ?? 'main'
    const options = { label, signal: site.signal }
    const made = await openPlace(site, where).layers.checkpoint(layer, options)
    const name = made.label === '' ? made.id : made.label
    return {
      text: `Made the checkpoint ${name} of ${layer}.`,
      data: { id: made.id, label: made.label, seq: made.seq },
    }
  },
})

export const rollback: Tool = defineTool({
  name: 'rollback',
  title: 'Go back to a checkpoint',
  description:
    'Puts an attempt (layer) back to a checkpoint, or to how it began. With dry_run it only shows what would change. It ' +
    'cannot roll back main: work in an attempt.',
  needs: ['write'],
  effect: 'removes',
  input: z.object({
    to: label
      .optional()
      .describe('Label or id of a checkpoint, or a tool call; the beginning unless given'),
    dry_run: z.boolean().default(false),
    ...place,
  }),
  output: z.object({
    layer: z.string(),
    changes: z.array(change),
    total: z.number(),
    dry_run: z.boolean(),
  }),
  async run({ to, dry_run, ...where }, site) {
    const layer = layerOf(site, where)
    if (layer === undefined)
      throw new ToolError(
        'roll back main: others may be working on it',
        'Name an attempt as "layer", or copy single files back from "at" a checkpoint.',
      )
    const { layers } = openPlace(site, where)
    const { signal } = site
    const all = dry_run
      ? await layers.diff(layer, { from: 'head', to: to ?? 'base', signal })
      : (await layers.rollback(layer, { to, signal })).paths
    const changes = all.slice(0, changesShown).map(shortenChange)
    const said = `${dry_run ? 'Would change' : 'Rolled back: changed'} ${count(all.length, 'path')}.`
    return {
      text: `${said}\n${describeChanges(changes, all.length)}`.trim(),
      data: { layer, changes, total: all.length, dry_run },
    }
  },
})
