import { isBuiltin } from 'node:module'

/** Only a connection over TLS needs them; loading them takes as long as a third of Node's own start. */
const seldomNeeded = new Set(['https', 'tls'])

/**
 * Lets a bundle take Node's own modules from `process`. Imported, each of them is read to its last property first, and
 * with `node:fs` and `node:util` that loads streams and decoders which most processes never use.
 * @type {import('esbuild').Plugin}
 */
export const leanBuiltins = {
  name: 'lean-builtins',
  setup(build) {
    build.onResolve({ filter: /^(?:node:)?[a-z_/]+$/ }, ({ path }) =>
      isBuiltin(path) ? { path: path.replace(/^node:/, ''), namespace: 'builtin' } : undefined,
    )
    build.onLoad({ filter: /.*/, namespace: 'builtin' }, ({ path }) => {
      const module = `process.getBuiltinModule('node:${path}')`
      const contents = seldomNeeded.has(path)
        ? `module.exports = new Proxy({}, { get: (_, key) => ${module}[key] })`
        : `module.exports = ${module}`
      return { contents, loader: 'js' }
    })
  },
}
