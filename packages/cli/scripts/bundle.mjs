// Makes dist/cairn.mjs: the parts that every start needs in one file, each command in a chunk of its own. Only the
// server stays outside, because it brings native stores and is loaded by one command alone.
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'

const root = fileURLToPath(new URL('..', import.meta.url))
const outdir = process.argv[2] ?? join(root, 'dist')

await rm(join(outdir, 'chunks'), { recursive: true, force: true })
await build({
  entryPoints: { cairn: join(root, 'src/main.ts') },
  outdir,
  outExtension: { '.js': '.mjs' },
  chunkNames: 'chunks/[name]-[hash]',
  bundle: true,
  splitting: true,
  format: 'esm',
  platform: 'node',
  target: 'node22',
  conditions: ['source'],
  external: ['@cairn/server'],
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
})
