import { z } from 'zod'
import { filePath, place } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { count } from '../text/bounds.ts'
import { defineTool, type Tool } from '../tool.ts'

export const write: Tool = defineTool({
  name: 'write',
  title: 'Write a file',
  description:
    'Creates a file or replaces all of its content; missing directories are made. To change a part of a file, use edit. ' +
    'With expected_version (from read) it fails when the file has changed since; "absent" means: only if there is no such file.',
  needs: ['write'],
  effect: 'changes',
  input: z.object({
    file_path: filePath,
    content: z.string().max(8 << 20),
    expected_version: z.string().max(256).optional().describe('version from read, or "absent"'),
    ...place,
  }),
  output: z.object({ path: z.string(), version: z.string(), bytes: z.number() }),
  async run({ file_path, content, expected_version, ...where }, site) {
    const path = absolute(file_path)
    const isNew = expected_version === 'absent'
    const receipt = await openPlace(site, where).files.write(path, content, {
      ...(isNew ? { ifAbsent: true } : { ifMatch: expected_version }),
      signal: site.signal,
    })
    const bytes = new TextEncoder().encode(content).length
    const text = `Wrote ${path} (${count(bytes, 'byte')}).`
    return { text, data: { path, version: receipt.stat?.etag ?? '', bytes } }
  },
})
