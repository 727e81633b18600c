import type { FileEntry } from '@cairn/sdk'
import { z } from 'zod'
import { cursor, limit, next, path, readPlace } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { defineTool, type Tool } from '../tool.ts'

export const ls: Tool = defineTool({
  name: 'ls',
  title: 'List a directory',
  description:
    'Lists a directory: names, sizes and kinds, in order of names. With recursive, everything below it. Long listings come ' +
    'in pages: give "next" as cursor.',
  needs: ['list'],
  effect: 'reads',
  input: z.object({
    path: path.default('/').describe('The directory'),
    recursive: z.boolean().default(false),
    limit: limit(200, 1000),
    cursor,
    ...readPlace,
  }),
  output: z.object({
    path: z.string(),
    entries: z.array(z.object({ path: z.string(), kind: z.string(), size: z.number() })),
    next,
  }),
  async run({ recursive, limit, cursor, ...input }, site) {
    const directory = absolute(input.path)
    const { files } = openPlace(site, input)
    const options = { recursive, limit, cursor, signal: site.signal }
    const page = await files.listPage(directory, options)
    const entries = page.items.map(({ path, kind, size }) => ({ path, kind, size }))
    const listing = page.items.map((entry) => line(entry, recursive)).join('\n')
    const rest = page.next === undefined ? '' : `\n[More entries follow. cursor: ${page.next}]`
    return {
      text: (listing === '' ? `${directory} is empty.` : listing) + rest,
      data: { path: directory, entries, ...(page.next === undefined ? {} : { next: page.next }) },
    }
  },
})

function line({ path, name, kind, size, target }: FileEntry, isRecursive: boolean): string {
  const shown = isRecursive ? path : name
  if (kind === 'directory') return `${shown}/`
  return kind === 'symlink' ? `${shown} -> ${target ?? ''}` : `${shown}  ${size}`
}
