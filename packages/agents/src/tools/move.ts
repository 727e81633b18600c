import { z } from 'zod'
import { filePath, place } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { defineTool, type Tool } from '../tool.ts'

export const move: Tool = defineTool({
  name: 'move',
  title: 'Move or rename',
  description:
    'Renames a file or directory; missing directories are made. It fails when something is at the new path, unless ' +
    'overwrite is set.',
  needs: ['write', 'delete'],
  effect: 'changes',
  input: z.object({
    from: filePath,
    to: filePath,
    overwrite: z.boolean().default(false),
    ...place,
  }),
  output: z.object({ from: z.string(), to: z.string() }),
  async run({ overwrite, ...input }, site) {
    const [from, to] = [absolute(input.from), absolute(input.to)]
    const options = { noReplace: !overwrite, parents: true, signal: site.signal }
    await openPlace(site, input).files.move(from, to, options)
    return { text: `Moved ${from} to ${to}.`, data: { from, to } }
  },
})
