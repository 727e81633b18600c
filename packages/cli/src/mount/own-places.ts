import { relative } from 'node:path'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { mountPointOf, mountsDirectory } from './places.ts'

/**
 * Throws where a mount would hide what its own processes need: they would wait for an answer that they themselves have
 * to give.
 */
export function refuseOwnPlaces(
  cli: Pick<Cli, 'env' | 'home'>,
  mountPoint: string,
  cacheDirectory?: string,
): void {
  const refuse = (what: string, place: string, hint: string): void => {
    if (isIn(mountPoint, mountPointOf(place)))
      throw cliError('mount_failed', `mount on ${mountPoint}`, `${what} in there: ${place}`, hint)
  }
  const below = 'Mount on another directory, such as one below'
  const state = mountsDirectory(cli)
  refuse('it keeps its state', state, `${below}; or first: export XDG_CACHE_HOME=DIRECTORY.`)
  if (cacheDirectory !== undefined)
    refuse('it keeps bytes', cacheDirectory, 'Give another directory as --cache-dir.')
  for (const program of [process.execPath, process.argv[1]!])
    refuse('the program itself is', program, `${below}; or install cairn elsewhere.`)
}

function isIn(directory: string, path: string): boolean {
  const way = relative(directory, path)
  return way !== '..' && !way.startsWith('../')
}
