import { z } from 'zod'
import { filePath, place } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { defineTool, type Tool } from '../tool.ts'

export const remove: Tool = defineTool({
  name: 'remove',
  title: 'Remove a file or directory',
  description:
    'Removes a file or an empty directory; with recursive, a directory and everything in it. undo brings it ' +
    'back.',
  needs: ['delete', 'write'],
  effect: 'removes',
  input: z.object({ path: filePath, recursive: z.boolean().default(false), ...place }),
  output: z.object({ path: z.string() }),
  async run({ recursive, ...input }, site) {
    const path = absolute(input.path)
    await openPlace(site, input).files.remove(path, { recursive, signal: site.signal })
    return { text: `Removed ${path}.`, data: { path } }
  },
})
