import { isBuiltin } from 'node:module'
import { relative } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** Only a connection over TLS needs them; loading them takes as long as a third of Node's own start. */
const seldomNeeded = ['https', 'tls']

/** For a bundle with the server, which reads named functions from these two. */
export const allBuiltins = builtins([])

/**
 * Lets a bundle take Node's own modules from `process`. Imported, each of them is read to its last property first, and
 * with `node:fs` and `node:util` that loads streams and decoders which most processes never use.
 */
export const leanBuiltins = builtins(seldomNeeded)

/**
 * @param {readonly string[]} late loaded when one of their properties is read
 * @returns {import('esbuild').Plugin}
 */
function builtins(late) {
  return {
    name: 'builtins',
    setup(build) {
      build.onResolve({ filter: /^(?:node:)?[a-z0-9_/]+$/ }, ({ path, importer }) =>
        isBuiltin(path)
          ? {
              path: path.replace(/^node:/, ''),
              namespace: 'builtin',
              // Once for each file that asks: shared, each of these lines would be a file to load.
              suffix: `?${relative(root, importer)}`,
            }
          : undefined,
      )
      build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
        const module = `process.getBuiltinModule('node:${path}')`
        const contents = late.includes(path)
          ? `module.exports = new Proxy({}, { get: (_, key) => ${module}[key] })`
          : `module.exports = ${module}`
        return { contents, loader: 'js' }
      })
    },
  }
}
