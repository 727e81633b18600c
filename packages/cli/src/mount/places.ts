import { createHash } from 'node:crypto'
import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import type { Cli } from '../cli.ts'

/** Where a mount point really is. It is not touched itself: the mount behind it may not answer. */
export function mountPointOf(path: string): string {
  const absolute = resolve(path)
  const parent = dirname(absolute)
  return parent === absolute ? absolute : join(realpathSync(parent), basename(absolute))
}

/** Where the processes of the mount at that place keep their state and can be reached. */
export function stateDirectory(cli: Pick<Cli, 'env' | 'home'>, mountPoint: string): string {
  const base = cli.env['XDG_CACHE_HOME'] || join(cli.home, '.cache')
  const name = createHash('sha256').update(mountPoint).digest('hex').slice(0, 16)
  return join(base, 'cairn', 'mounts', name)
}
