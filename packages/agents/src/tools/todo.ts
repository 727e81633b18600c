import { isCairnError } from '@cairn/sdk'
import { z } from 'zod'
import { path, place } from '../fields.ts'
import { absolute, layerOf, openPlace, type PointArguments } from '../open-place.ts'
import { ToolError } from '../tool-error.ts'
import { defineTool, type Tool, type ToolSite } from '../tool.ts'

const todo = z.object({
  content: z.string().min(1).max(4096),
  status: z.enum(['pending', 'in_progress', 'completed']),
})
const todos = z.array(todo).max(500)

const where = {
  directory: path.default('/').describe('Directory that the list belongs to; one you may write in'),
  ...place,
}

const output = z.object({ path: z.string(), todos })

export const todoRead: Tool = defineTool({
  name: 'todo_read',
  title: 'Read the list of tasks',
  description:
    'Reads the list of tasks. It is kept in the workspace, so it outlives a session and a sandbox.',
  needs: ['read'],
  effect: 'reads',
  input: z.object(where),
  output,
  async run(input, site) {
    const path = listPath(site, input)
    try {
      const text = await openPlace(site, input).files.readText(path, { signal: site.signal })
      const list = parseList(text, path)
      return { text: show(list), data: { path, todos: list } }
    } catch (error) {
      if (!isCairnError(error) || error.errno !== 'ENOENT') throw error
      return { text: show([]), data: { path, todos: [] } }
    }
  },
})

export const todoWrite: Tool = defineTool({
  name: 'todo_write',
  title: 'Write the list of tasks',
  description:
    'Replaces the list of tasks. Keep one task in_progress at a time, and mark it completed as soon as it is done.',
  needs: ['write'],
  effect: 'changes',
  input: z.object({ todos, ...where }),
  output,
  async run({ todos, ...input }, site) {
    const path = listPath(site, input)
    const text = `${JSON.stringify(todos, null, 2)}\n`
    await openPlace(site, input).files.write(path, text, { signal: site.signal })
    return { text: show(todos), data: { path, todos } }
  },
})

/** One file for each attempt: two that are committed do not conflict over their lists. */
function listPath(site: ToolSite, input: PointArguments & { readonly directory: string }): string {
  const name = layerOf(site, input) ?? 'main'
  const safe = name.replaceAll(/[^A-Za-z0-9._-]/g, '_')
  return `${absolute(input.directory).replace(/\/$/, '')}/.cairn/todo/${safe}.json`
}

function parseList(text: string, path: string): z.output<typeof todos> {
  try {
    return todos.parse(JSON.parse(text))
  } catch (error) {
    if (!(error instanceof SyntaxError || error instanceof z.ZodError)) throw error
    throw new ToolError(`read the list of tasks: ${path} is not one`, 'Replace it with todo_write.')
  }
}

const marks = { pending: '[ ]', in_progress: '[~]', completed: '[x]' }

function show(list: z.output<typeof todos>): string {
  if (list.length === 0) return 'The list of tasks is empty.'
  return list.map(({ status, content }) => `${marks[status]} ${content}`).join('\n')
}
