// Builds the parts of mounts that are written in C.
import { existsSync, readFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { compileOnce, makePiece } from './compile.mjs'

const here = dirname(fileURLToPath(import.meta.url))

/** The transport. Node loads it, so it must be of the same C library as Node; 2.28 is the oldest glibc that Node runs on. */
export const piece = makePiece(here, {
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
export const standby = makePiece(here, {
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
export const buildFuseIo = () => compileOnce(piece)

/** The same of the program that stands by. */
export const buildStandby = () => compileOnce(standby)

if (argv[1] === fileURLToPath(import.meta.url))
  for (const build of [buildFuseIo, buildStandby]) console.log(build())
