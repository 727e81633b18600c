import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

/** Beside what is running or one folder up, where a bundle has it; else in the package, as it was published. */
export function findShipped(names: readonly string[]): string | undefined {
  const isSource = import.meta.url.endsWith('.ts')
  const folders = isSource ? ['./', '../'] : ['./', '../', '../../native/prebuilt/']
  return folders
    .flatMap((folder) => names.map((name) => `${folder}${name}`))
    .map((place) => fileURLToPath(new URL(place, import.meta.url)))
    .find((place) => existsSync(place))
}

/** What compiles them where none was shipped. Outside src, so that it is at the same place for sources and for what was compiled from them. */
export const buildScript: URL = new URL('../../native/build.mjs', import.meta.url)
