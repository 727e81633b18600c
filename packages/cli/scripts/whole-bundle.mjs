// Bundles the whole program, server and sandboxes included, into one flat folder: what finds a file beside itself, a
// thread or a native piece, finds it there. The single executable and the tests of mounts run it.
//   node packages/cli/scripts/whole-bundle.mjs DIRECTORY
import { globSync, readFileSync, writeFileSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { allBuiltins } from './lean-builtins.mjs'

const root = fileURLToPath(new URL('../../..', import.meta.url))

/** @param {string} directory */
export async function bundleWhole(directory) {
  await build({
    entryPoints: { cairn: join(root, 'packages/cli/src/main.ts'), ...findStartedFiles() },
    outdir: directory,
    chunkNames: '[name]-[hash]',
    bundle: true,
    splitting: true,
    format: 'esm',
    platform: 'node',
    target: 'node24',
    conditions: ['source'],
    plugins: [allBuiltins],
    minifyWhitespace: true,
    minifySyntax: true,
    legalComments: 'none',
    logLevel: 'warning',
  })
  writeFileSync(join(directory, 'package.json'), '{"type":"module"}\n')
}

/** The files that the program starts as threads and processes, which no import names. */
function findStartedFiles() {
  const sources = globSync('packages/*/src/**/*.ts', { cwd: root })
  const started = sources
    .filter((path) => !/\.test\.ts$|\/testing\//.test(path))
    .flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      const urls = text.matchAll(/new URL\('\.\/([a-z-]+)\.ts', import\.meta\.url\)/g)
      return [...urls].map(([, name]) => join(root, dirname(path), `${name}.ts`))
    })
  const names = started.map((path) => basename(path, '.ts'))
  const twice = names.find((name, index) => names.indexOf(name) < index)
  if (twice !== undefined)
    throw new Error(`cannot bundle into one folder: two files are called ${twice}.ts. Rename one.`)
  return Object.fromEntries(started.map((path, index) => [names[index], path]))
}

if (import.meta.main) await bundleWhole(process.argv[2] ?? '')
