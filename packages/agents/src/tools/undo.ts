import { z } from 'zod'
import { change, path, place } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { count } from '../text/bounds.ts'
import { changesShown, describeChanges, shortenChange } from '../text/changes.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

export const undo: Tool = defineTool({
  name: 'undo',
  title: 'Undo a tool call',
  description:
    'Takes back what a tool call or an actor changed, on top of what is there now; what came after stays. If a path was ' +
    'changed again since, it lists the path and changes nothing. The tool log shows calls and actors. With dry_run it only ' +
    'shows what would change.',
  needs: ['write'],
  effect: 'removes',
  input: z.object({
    tool_call: z.string().min(1).max(256).optional().describe('Id of the call, from the log'),
    actor: z.string().min(1).max(256).optional().describe('Id of the actor, from the log'),
    path: path.min(1).optional().describe('Only changes at or below this path'),
    dry_run: z.boolean().default(false),
    ...place,
  }),
  output: z.object({
    seq: z.number().optional(),
    changes: z.array(change),
    total: z.number(),
    dry_run: z.boolean(),
  }),
  async run({ tool_call: toolCall, actor, path, dry_run, ...where }, site) {
    if (toolCall === undefined && actor === undefined)
      throw new ToolError('undo changes: nothing says whose', 'Give tool_call or actor.')
    const { seq, paths } = await openPlace(site, where).undo({
      toolCall,
      actor,
      dryRun: dry_run,
      ...(path === undefined ? {} : { path: absolute(path) }),
      signal: site.signal,
    })
    const changes = paths.slice(0, changesShown).map(shortenChange)
    const said = `${dry_run ? 'Would change' : 'Undone: changed'} ${count(paths.length, 'path')}.`
    return {
      text: `${said}\n${describeChanges(changes, paths.length)}`,
      data: { ...(seq === undefined ? {} : { seq }), changes, total: paths.length, dry_run },
    }
  },
})
