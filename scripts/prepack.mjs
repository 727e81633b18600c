// Makes a package ready for `npm pack`, in whose directory npm starts this: what was compiled is up to date and holds
// nothing of sources that are gone, and the licence lies beside it for as long as the packing takes.
import { copyFileSync, existsSync, globSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { isFresh, prebuiltPath, targets } from './build-native.mjs'
import { root, run } from './run.mjs'

const here = process.cwd()
const licence = join(here, 'LICENSE')

if (process.argv.includes('--undo')) rmSync(licence, { force: true })
else prepare()

function prepare() {
  const { name } = JSON.parse(readFileSync(join(here, 'package.json'), 'utf8'))
  const missing = ['@cairn/cli', '@cairn/mount', '@cairn/sandbox'].includes(name)
    ? targets.filter((target) => !isFresh(target)).map(prebuiltPath)
    : []
  if (missing.length > 0)
    throw new Error(
      `cannot pack ${name}: ${missing.join(', ')} is not up to date. Run: npm run build:native`,
    )
  const isBuilt =
    run('tsc', ['-b', here]) &&
    (name !== '@cairn/cli' || run('node', ['packages/cli/scripts/bundle.mjs']))
  if (!isBuilt) throw new Error(`cannot pack ${name}: it does not build`)
  if (name !== '@cairn/cli') dropLeftovers()
  copyFileSync(join(root, 'LICENSE'), licence)
}

/** The compiler never deletes what it made of a file that is gone. */
function dropLeftovers() {
  for (const path of globSync('dist/**/*.{js,d.ts,js.map,d.ts.map}', { cwd: here })) {
    const source = path.replace(/^dist/, 'src').replace(/(\.d\.ts|\.js)(\.map)?$/, '.ts')
    if (!existsSync(join(here, source))) rmSync(join(here, path))
  }
}
