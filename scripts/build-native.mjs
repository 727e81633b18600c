// Compiles the native pieces for every machine that packages are published for, with zig, which brings the headers and
// libraries of all of them. What it makes is not committed: a binary in a repository cannot be reviewed, and this
// command makes the same one again from the sources.
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, renameSync, statSync, writeFileSync } from 'node:fs'
import { basename, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { piece as fuseIo, standby } from '@cairn/mount/native/build'
import { piece as jail } from '@cairn/sandbox/native/build'

const zigVersion = '0.17.0'
const zigHome = fileURLToPath(new URL('../node_modules/.cairn-zig', import.meta.url))
const bytesMax = 200_000

export const targets = [fuseIo, standby, jail].flatMap((piece) =>
  piece.targets.map((target) => ({ piece, ...target })),
)

/** @param {typeof targets[number]} target */
export function prebuiltPath({ piece, of }) {
  return join(piece.directory, `${piece.name}-${of}${piece.ending}`)
}

/**
 * Whether it is there and made from the sources as they are now.
 * @param {typeof targets[number]} target
 */
export function isFresh(target) {
  const stamp = `${prebuiltPath(target)}.sha256`
  return existsSync(stamp) && readFileSync(stamp, 'utf8') === target.piece.digest()
}

/** @param {typeof targets[number]} target */
function build(target) {
  const path = prebuiltPath(target)
  const { piece, zig, args } = target
  mkdirSync(piece.directory, { recursive: true })
  const whole = `${path}.${process.pid}`
  const words = ['cc', '-target', zig, '-s', ...args, ...piece.args, '-o', whole]
  execFileSync(findZig(), words, { stdio: 'inherit' })
  const { size } = statSync(whole)
  if (size > bytesMax)
    throw new Error(`${basename(path)} has ${size} bytes; ${bytesMax} is the most.`)
  renameSync(whole, path)
  writeFileSync(`${path}.sha256`, piece.digest())
  console.log(`${basename(path)}: ${size} bytes`)
}

/** The one of ZIG, or that of the Python package, which is installed below node_modules. */
function findZig() {
  if (process.env['ZIG']) return process.env['ZIG']
  const zig = join(zigHome, zigVersion, 'ziglang', 'zig')
  if (existsSync(zig)) return zig
  const words = ['-m', 'pip', 'install', '-q', '--target', join(zigHome, zigVersion)]
  const run = spawnSync('python3', [...words, `ziglang==${zigVersion}`], { stdio: 'inherit' })
  if (run.status === 0) return zig
  throw new Error(
    `cannot install zig ${zigVersion} with pip. Install it yourself, and name it: ZIG=/path/to/zig npm run build:native`,
  )
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  for (const target of targets) if (!isFresh(target)) build(target)
