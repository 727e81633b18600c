import { execFileSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Site } from '../../mount/fixture.ts'

const directories = 30
const filesEach = 48

/** Gives its path on the disk. */
export function makeRepository(site: Site): string {
  const source = join(site.directory, 'source')
  mkdirSync(source)
  for (let d = 0; d < directories; d++) {
    mkdirSync(join(source, `d${d}`))
    for (let f = 0; f < filesEach; f++)
      writeFileSync(join(source, `d${d}/f${f}`), `${d} ${f}\n`.repeat(500))
  }
  const commit =
    'git init -q .; git add .; git -c user.name=n -c user.email=e@example.org commit -qm one'
  execFileSync('/bin/sh', ['-ec', commit], { cwd: source })
  return source
}
