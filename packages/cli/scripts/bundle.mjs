// Makes dist/cairn.mjs: the parts that every start needs in one file, each command in a chunk of its own. The server and
// the sandboxes stay outside, because they bring more and are loaded by few commands. The native pieces of mounts are put
// beside it, so that users need no compiler. dist/cairn-single is all of it in one file.
import { copyFile, readdir, rm } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { build } from 'esbuild'
import { buildFuseIo, buildStandby, findPrebuilt } from '@cairn/mount/native/build'
import { leanBuiltins } from './lean-builtins.mjs'
import { oneCommonFile } from './one-common-file.mjs'
import { makeSingleFile } from './single-file.mjs'

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
  external: ['@cairn/server', '@cairn/sandbox'],
  plugins: [leanBuiltins, oneCommonFile(join(root, 'src'))],
  minifyWhitespace: true,
  minifySyntax: true,
  legalComments: 'none',
  logLevel: 'warning',
})
await shipNative()
await makeSingleFile(outdir)

/**
 * Those of all machines, where `npm run build:native` has made them; else the one of this machine. Where there is no
 * compiler either, everything but mounts works.
 */
async function shipNative() {
  if (process.platform !== 'linux') return
  for (const name of await readdir(outdir))
    // Removed, not overwritten: a running mount has the old one loaded, and must not find other bytes under it.
    if (/\.node$|^standby-/.test(name)) await rm(join(outdir, name))
  try {
    for (const path of findPrebuilt() ?? [buildFuseIo(), buildStandby()])
      await copyFile(path, join(outdir, basename(path)))
  } catch (error) {
    console.error(`warning: ${/** @type {Error} */ (error).message} Mounts do not work.`)
  }
}
