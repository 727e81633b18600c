import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

/** What nearly every command loads. */
const common = [
  'run-command.ts',
  'remote/open.ts',
  'output/format.ts',
  'output/shell-words.ts',
  'layers/format.ts',
  'layers/options.ts',
  'layers/quota.ts',
]

/**
 * esbuild makes a file of its own for each set of commands that share code, and a command of thirty such files spends a
 * fifth of its time on finding them. So let each command import all that is common: then these sets are the same.
 * @param {string} sources the folder of main.ts
 * @returns {import('esbuild').Plugin}
 */
export function oneCommonFile(sources) {
  const imports = common.map((name) => `import ${JSON.stringify(join(sources, name))}\n`).join('')
  const commands = new Set()
  return {
    name: 'one-common-file',
    setup(build) {
      build.onResolve({ filter: /^\.\/commands\// }, async ({ path, resolveDir }) => {
        const file = join(resolveDir, path)
        commands.add(file)
        return { path: file }
      })
      build.onLoad({ filter: /\/commands\/.*\.ts$/ }, async ({ path }) => {
        if (!commands.has(path)) return undefined
        return { contents: `${imports}${await readFile(path, 'utf8')}`, loader: 'ts' }
      })
    },
  }
}
