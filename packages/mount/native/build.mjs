// Compiles the C files with one call of the C compiler, unless that was done for these very sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv, env } from 'node:process'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const units = ['fuseio.c', 'mapped-file.c'].map((name) => join(here, name))
const headers = ['js.h', 'mapped-file.h', 'napi.h'].map((name) => join(here, name))
const flags = ['-shared', '-fPIC', '-O2', '-fvisibility=hidden', '-Wall', '-Wextra']

/** What scripts/build-native.mjs compiles for other machines, too. */
export const piece = {
  name: 'fuseio',
  ending: '.node',
  directory: join(here, 'prebuilt'),
  args: [...flags, ...units],
  // Node loads it, so it must be of the same C library as Node; 2.28 is the oldest glibc that Node runs on.
  targets: [
    { of: 'linux-x64-glibc', zig: 'x86_64-linux-gnu.2.28', args: [] },
    { of: 'linux-arm64-glibc', zig: 'aarch64-linux-gnu.2.28', args: [] },
    { of: 'linux-x64-musl', zig: 'x86_64-linux-musl', args: [] },
    { of: 'linux-arm64-musl', zig: 'aarch64-linux-musl', args: [] },
  ],
  /** A digest of the sources and of how they are compiled. */
  digest: () => {
    const sum = createHash('sha256').update(flags.join(' '))
    for (const source of [...units, ...headers]) sum.update(readFileSync(source))
    return sum.digest('hex')
  },
}

/** Those for every machine; undefined unless all are there and made from the sources as they are now. */
export function findPrebuilt() {
  const paths = piece.targets.map(({ of }) => join(piece.directory, `fuseio-${of}.node`))
  const digest = piece.digest()
  const isFresh = (/** @type {string} */ path) =>
    existsSync(`${path}.sha256`) && readFileSync(`${path}.sha256`, 'utf8') === digest
  return paths.every(isFresh) ? paths : undefined
}

/** The path of the compiled file. Throws when there is no compiler, or when it refuses. */
export function buildFuseIo() {
  const target = join(here, 'build', `fuseio-${process.platform}-${process.arch}.node`)
  const digest = piece.digest()
  const stamp = `${target}.sha256`
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest)
    return target
  mkdirSync(dirname(target), { recursive: true })
  // Renamed when whole: another process may be loading, or building, the same file.
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
      `cannot build the FUSE transport: no C compiler (${compiler}). Install gcc (Debian: apt-get install gcc libc6-dev), or set CC.`,
      { cause: run.error },
    )
  if (run.status !== 0)
    throw new Error(`cannot build the FUSE transport: ${compiler} failed.\n${run.stderr}`)
  if (run.stderr !== '') console.error(run.stderr)
}

if (argv[1] === fileURLToPath(import.meta.url)) console.log(buildFuseIo())
