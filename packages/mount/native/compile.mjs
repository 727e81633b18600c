// Compiles C files, each piece with one call of the C compiler, unless that was done for these very sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { env } from 'node:process'

/**
 * What scripts/build-native.mjs compiles for other machines, too.
 * @typedef {ReturnType<typeof makePiece>} NativePiece
 * @param {string} here the folder of the sources
 * @param {{
 *   name: string, ending: string, what: string, flags: string[], units: string[], headers: string[],
 *   targets: { of: string, zig: string, args: string[] }[],
 * }} parts
 */
export function makePiece(here, { units, headers, flags, ...rest }) {
  const inHere = (/** @type {string} */ name) => join(here, name)
  return {
    ...rest,
    here,
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

/**
 * The path of the compiled file. Throws when there is no compiler, or when it refuses.
 *
 * @param {NativePiece} piece
 */
export function compileOnce(piece) {
  const { here, name, ending } = piece
  const target = join(here, 'build', `${name}-${process.platform}-${process.arch}${ending}`)
  const digest = piece.digest()
  const stamp = `${target}.sha256`
  if (existsSync(target) && existsSync(stamp) && readFileSync(stamp, 'utf8') === digest)
    return target
  mkdirSync(dirname(target), { recursive: true })
  // Renamed when whole: another process may be using, or building, the same file.
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
