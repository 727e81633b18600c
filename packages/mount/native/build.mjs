// Compiles the C files, each piece with one call of the C compiler, unless that was done for these very sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv, env } from 'node:process'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const inHere = (/** @type {string} */ name) => join(here, name)

/**
 * What scripts/build-native.mjs compiles for other machines, too.
 * @typedef {ReturnType<typeof makePiece>} NativePiece
 * @param {{
 *   name: string, ending: string, what: string, flags: string[], units: string[], headers: string[],
 *   targets: { of: string, zig: string, args: string[] }[],
 * }} parts
 */
function makePiece({ units, headers, flags, ...rest }) {
  return {
    ...rest,
    directory: inHere('prebuilt'),
    args: [...flags, ...units.map(inHere)],
    /** A digest of the sources and of how they are compiled. */
    digest: () => {
      const sum = createHash('sha256').update(flags.join(' '))
      for (const source of [...units, ...headers]) sum.update(readFileSync(inHere(source)))
      return sum.digest('hex')
    },
  }
}

/** The transport. Node loads it, so it must be of the same C library as Node; 2.28 is the oldest glibc that Node runs on. */
export const piece = makePiece({
  name: 'fuseio',
  ending: '.node',
  what: 'the FUSE transport',
  flags: ['-shared', '-fPIC', '-O2', '-fvisibility=hidden', '-Wall', '-Wextra'],
  units: ['fuseio.c', 'mapped-file.c'],
  headers: ['js.h', 'mapped-file.h', 'napi.h'],
  targets: [
    { of: 'linux-x64-glibc', zig: 'x86_64-linux-gnu.2.28', args: [] },
    { of: 'linux-arm64-glibc', zig: 'aarch64-linux-gnu.2.28', args: [] },
    { of: 'linux-x64-musl', zig: 'x86_64-linux-musl', args: [] },
    { of: 'linux-arm64-musl', zig: 'aarch64-linux-musl', args: [] },
  ],
})

/** What waits in place of a supervisor. A program of its own: linked statically, it runs with any C library. */
export const standby = makePiece({
  name: 'standby',
  ending: '',
  what: 'the program that stands by for a supervisor',
  flags: ['-O2', '-D_GNU_SOURCE', '-Wall', '-Wextra'],
  units: ['standby.c'],
  headers: [],
  targets: [
    { of: 'linux-x64', zig: 'x86_64-linux-musl', args: ['-static'] },
    { of: 'linux-arm64', zig: 'aarch64-linux-musl', args: ['-static'] },
  ],
})

/** Those for every machine; undefined unless all are there and made from the sources as they are now. */
export function findPrebuilt() {
  const fresh = [piece, standby].flatMap(({ name, ending, targets, directory, digest }) =>
    targets.map(({ of }) => {
      const path = join(directory, `${name}-${of}${ending}`)
      const stamp = `${path}.sha256`
      return existsSync(stamp) && readFileSync(stamp, 'utf8') === digest() ? path : undefined
    }),
  )
  return fresh.every((path) => path !== undefined) ? fresh : undefined
}

/** The path of the compiled transport. Throws when there is no compiler, or when it refuses. */
export function buildFuseIo() {
  return buildHere(piece)
}

/** The same of the program that stands by. */
export function buildStandby() {
  return buildHere(standby)
}

/** @param {NativePiece} piece */
function buildHere(piece) {
  const target = inHere(`build/${piece.name}-${process.platform}-${process.arch}${piece.ending}`)
  const digest = piece.digest()
  const stamp = `${target}.sha256`
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest)
    return target
  mkdirSync(dirname(target), { recursive: true })
  // Renamed when whole: another process may be loading, or building, the same file.
  const whole = `${target}.${process.pid}`
  compile(piece, whole)
  renameSync(whole, target)
  writeFileSync(`${stamp}.${process.pid}`, digest)
  renameSync(`${stamp}.${process.pid}`, stamp)
  return target
}

/**
 * @param {NativePiece} piece
 * @param {string} output
 */
function compile({ what, args }, output) {
  const compiler = env['CC'] ?? 'cc'
  const run = spawnSync(compiler, [...args, '-o', output], { encoding: 'utf8' })
  if (run.error !== undefined)
    throw new Error(
      `cannot build ${what}: no C compiler (${compiler}). Install gcc (Debian: apt-get install gcc libc6-dev), or set CC.`,
      { cause: run.error },
    )
  if (run.status !== 0) throw new Error(`cannot build ${what}: ${compiler} failed.\n${run.stderr}`)
  if (run.stderr !== '') console.error(run.stderr)
}

if (argv[1] === fileURLToPath(import.meta.url))
  for (const build of [buildFuseIo, buildStandby]) console.log(build())
