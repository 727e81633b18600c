import { z } from 'zod'
import { cursor, limit, next, path, readPlace } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool } from '../tool.ts'

/** They are sorted by time, so all of them are collected first. */
const matchesMax = 10_000

export const glob: Tool = defineTool({
  name: 'glob',
  title: 'Find files by name',
  description:
    'Finds files by a pattern such as src/**/*.{ts,tsx}: * and ? within a name, ** for any number of directories. Newest ' +
    'first. Wildcards skip names that begin with a dot. To search in the content of files, use grep.',
  needs: ['list'],
  effect: 'reads',
  input: z.object({
    pattern: z.string().min(1).max(4096),
    path: path.default('/').describe('The directory that the pattern begins at'),
    limit: limit(200, 1000),
    cursor,
    ...readPlace,
  }),
  output: z.object({ paths: z.array(z.string()), total: z.number(), next }),
  async run({ pattern, limit, cursor = '0', ...input }, site) {
    if (!/^\d{1,6}$/.test(cursor))
      throw new ToolError(
        `go on with glob: '${cursor}' is no cursor of it`,
        'Give "next" as it was.',
      )
    const from = absolute(input.path).replace(/\/$/, '')
    const found: { path: string; time: bigint }[] = []
    const { files } = openPlace(site, input)
    for await (const entry of files.glob(`${from}/${pattern}`, { signal: site.signal })) {
      if (entry.kind === 'directory') continue
      found.push({ path: entry.path, time: BigInt(entry.mtimeNs) })
      if (found.length > matchesMax)
        throw new ToolError(
          `find ${pattern}: more than ${matchesMax} files match`,
          'Use a narrower pattern, or a path to begin at.',
        )
    }
    found.sort((a, b) =>
      a.time === b.time ? (a.path < b.path ? -1 : 1) : a.time > b.time ? -1 : 1,
    )
    const end = Number(cursor) + limit
    const paths = found.slice(Number(cursor), end).map(({ path }) => path)
    const next = end < found.length ? String(end) : undefined
    const rest = next === undefined ? '' : `\n[${found.length - end} more files. cursor: ${next}]`
    return {
      text: paths.length === 0 ? `No file matches ${pattern}.` : paths.join('\n') + rest,
      data: { paths, total: found.length, ...(next === undefined ? {} : { next }) },
    }
  },
})
