import { z } from 'zod'
import { filePath, place } from '../fields.ts'
import { absolute, openPlace } from '../open-place.ts'
import { count } from '../text/bounds.ts'
import { numberLine, splitLines } from '../text/numbered-lines.ts'
import { othersTurn } from '../text/others-turn.ts'
import { type Replaced, type Replacement, replaceText } from '../text/replace.ts'
import { loadText } from '../text/text-file.ts'
import { defineTool, type Tool, type ToolAnswer, type ToolSite } from '../tool.ts'

const replacement = {
  old_string: z
    .string()
    .max(1 << 20)
    .describe('Exact text to replace, with its indentation'),
  new_string: z.string().max(1 << 20),
  replace_all: z.boolean().default(false).describe('Replace every match instead of the only one'),
}

const output = z.object({
  path: z.string(),
  version: z.string(),
  replacements: z.number(),
  content: z.string().describe('The numbered lines around the first change, as they are now'),
})

type Edited = z.output<typeof output>

export const edit: Tool = defineTool({
  name: 'edit',
  title: 'Edit a file',
  description:
    'Replaces exact text in a file. old_string must occur once, or set replace_all. It fails, and changes nothing, when the ' +
    'text is missing or not unique, or when the file changes meanwhile.',
  needs: ['write'],
  effect: 'changes',
  input: z.object({ file_path: filePath, ...replacement, ...place }),
  output,
  run: ({ file_path, old_string, new_string, replace_all, ...where }, site) =>
    editFile(site, where, absolute(file_path), [{ old_string, new_string, replace_all }]),
})

export const multiEdit: Tool = defineTool({
  name: 'multi_edit',
  title: 'Edit a file in several places',
  description:
    'Makes several edits of one file, in order, each on the result of the one before. All of them happen or none.',
  needs: ['write'],
  effect: 'changes',
  input: z.object({
    file_path: filePath,
    edits: z.array(z.object(replacement)).min(1).max(100),
    ...place,
  }),
  output,
  run: ({ file_path, edits, ...where }, site) => editFile(site, where, absolute(file_path), edits),
})

async function editFile(
  site: ToolSite,
  where: Parameters<typeof openPlace>[1],
  path: string,
  edits: readonly Replacement[],
): Promise<ToolAnswer<Edited>> {
  const workspace = openPlace(site, where)
  const { text, version } = await loadText(workspace, path, site.signal)
  let now: Replaced = { text, count: 0, line: Infinity }
  for (const one of edits) {
    await othersTurn()
    const { text, count, line } = await replaceText(now.text, path, one)
    now = { text, count: now.count + count, line: Math.min(now.line, line) }
  }
  const receipt = await workspace.files.write(path, now.text, {
    ifMatch: version,
    signal: site.signal,
  })
  const content = around(now)
  const said = `Edited ${path}: ${count(now.count, 'replacement')}.`
  return {
    text: content === '' ? said : `${said}\n${content}`,
    data: { path, version: receipt.stat?.etag ?? '', replacements: now.count, content },
  }
}

/** Three lines before the first change and some after it: enough to see that it is right. */
function around({ text, line }: Replaced): string {
  const first = Math.max(1, line - 3)
  return splitLines(text)
    .slice(first - 1, line + 7)
    .map((one, index) => numberLine(first + index, one.slice(0, 200)))
    .join('\n')
}
