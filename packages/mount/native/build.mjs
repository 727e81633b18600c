// Compiles the C files with one call of the C compiler, unless that was done for these very sources.
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv, env } from 'node:process'
import { fileURLToPath } from 'node:url'

const here = dirname(fileURLToPath(import.meta.url))
const units = ['fuseio.c', 'mapped-file.c']
const headers = ['js.h', 'mapped-file.h', 'napi.h']
const flags = ['-shared', '-fPIC', '-O2', '-fvisibility=hidden', '-Wall', '-Wextra']

/** The path of the compiled file. Throws when there is no compiler, or when it refuses. */
export function buildFuseIo() {
  const target = join(here, 'build', `fuseio-${process.platform}-${process.arch}.node`)
  const sum = createHash('sha256').update(flags.join(' '))
  for (const source of [...units, ...headers]) sum.update(readFileSync(join(here, source)))
  const digest = sum.digest('hex')
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
  const sources = units.map((unit) => join(here, unit))
  const run = spawnSync(compiler, [...flags, ...sources, '-o', output], { encoding: 'utf8' })
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
