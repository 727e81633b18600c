// Builds the helper of jails.
import { dirname } from 'node:path'
import { argv } from 'node:process'
import { fileURLToPath } from 'node:url'
import { compileOnce, makePiece } from '@cairn/mount/native/compile'

/** A program of its own: linked statically, it runs with any C library. */
export const piece = makePiece(dirname(fileURLToPath(import.meta.url)), {
  name: 'jail',
  ending: '',
  what: 'the helper of jails',
  flags: ['-O2', '-D_GNU_SOURCE', '-Wall', '-Wextra'],
  units: ['jail.c', 'init.c', 'exec.c', 'fuse.c', 'guard.c', 'net.c'],
  headers: ['jail.h'],
  targets: [
    { of: 'linux-x64', zig: 'x86_64-linux-musl', args: ['-static'] },
    { of: 'linux-arm64', zig: 'aarch64-linux-musl', args: ['-static'] },
  ],
})

/** The path of the compiled file. Throws when there is no compiler, or when it refuses. */
export const buildJailHelper = () => compileOnce(piece)

// Elsewhere everything but jails works.
if (argv[1] === fileURLToPath(import.meta.url) && process.platform === 'linux')
  console.log(buildJailHelper())
