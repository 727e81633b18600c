// Compiles the helper of jails with one call of the C compiler, unless that was done for these very sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv, env } from 'node:process'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const flags = ['-O2', '-D_GNU_SOURCE', '-Wall', '-Wextra']
const sources = ['jail.c', 'init.c', 'exec.c', 'fuse.c', 'guard.c', 'net.c'].map((name) =>
  join(here, name),
)

/** What scripts/build-native.mjs compiles for other machines, too. */
export const piece = {
  name: 'jail',
  ending: '',
  directory: join(here, 'prebuilt'),
  args: [...flags, ...sources],
  // A program of its own: linked statically, it runs with any C library.
  targets: [
    { of: 'linux-x64', zig: 'x86_64-linux-musl', args: ['-static'] },
    { of: 'linux-arm64', zig: 'aarch64-linux-musl', args: ['-static'] },
  ],
  /** A digest of the sources and of how they are compiled. */
  digest: () => {
    const sum = createHash('sha256').update(flags.join(' '))
    for (const source of [...sources, join(here, 'jail.h')]) sum.update(readFileSync(source))
    return sum.digest('hex')
  },
}

/** The path of the compiled file. Throws when there is no compiler, or when it refuses. */
export function buildJailHelper() {
  const target = join(here, 'build', `jail-${process.platform}-${process.arch}`)
  const digest = piece.digest()
  const stamp = `${target}.sha256`
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest)
    return target
  mkdirSync(dirname(target), { recursive: true })
  // Renamed when whole: another process may be starting, or building, the same file.
  const whole = `${target}.${process.pid}`
  compile(whole)
  renameSync(whole, target)
  writeFileSync(`${stamp}.${process.pid}`, digest)
  renameSync(`${stamp}.${process.pid}`, stamp)
  return target
}

/** @param {string} output */
function compile(output) {
  const compiler = env['CC'] ?? 'cc'
  const run = spawnSync(compiler, [...piece.args, '-o', output], { encoding: 'utf8' })
  if (run.error !== undefined)
    throw new Error(
      `cannot build the helper of jails: no C compiler (${compiler}). Install gcc (Debian: apt-get install gcc libc6-dev), or set CC.`,
      { cause: run.error },
    )
  if (run.status !== 0)
    throw new Error(`cannot build the helper of jails: ${compiler} failed.\n${run.stderr}`)
  if (run.stderr !== '') console.error(run.stderr)
}

// Elsewhere everything but jails works.
if (argv[1] === fileURLToPath(import.meta.url) && process.platform === 'linux')
  console.log(buildJailHelper())
