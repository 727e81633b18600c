import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { askControl } from '@cairn/mount'
import type { SiteMount } from '../../mount/fixture.ts'

/** Seconds until everything is at the server. Asked without a command line, whose start would count. */
export async function drain(mount: SiteMount): Promise<number> {
  const begin = performance.now()
  await askControl(stateDirectory(mount), 'drain')
  return (performance.now() - begin) / 1000
}

/** A mount of a site is the only one of its home. */
function stateDirectory({ directory }: SiteMount): string {
  const mounts = join(dirname(directory), '.cache', 'cairn', 'mounts')
  return join(mounts, readdirSync(mounts)[0]!)
}
