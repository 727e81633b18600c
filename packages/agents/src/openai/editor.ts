import type { Editor } from '@openai/agents'
import { applyDiff } from '@openai/agents/utils'
import type { Sandbox } from '@cairn/sandbox'
import { removeFile, writeFile } from '../exec/files.ts'

/** Where patches of the model are applied. */
export function editorOf(sandbox: Sandbox): Editor {
  const { fs } = sandbox
  return {
    createFile: async ({ path, diff }) => {
      await writeFile(sandbox, path, applyDiff('', diff, 'create'))
      return {}
    },
    updateFile: async ({ path, diff, moveTo = path }) => {
      await writeFile(sandbox, moveTo, applyDiff(await fs.read(path), diff))
      if (fs.resolve(moveTo) !== fs.resolve(path)) await removeFile(sandbox, path)
      return {}
    },
    deleteFile: async ({ path }) => {
      if (!(await removeFile(sandbox, path)))
        throw new Error(`cannot delete ${path}: it is not there. List the directory.`)
      return {}
    },
  }
}
