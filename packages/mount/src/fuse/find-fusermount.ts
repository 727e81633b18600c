import { existsSync } from 'node:fs'
import { join } from 'node:path'

/** The second one is of FUSE 2. Debian's package `fuse` puts it in the place of the first one, and it does the same. */
const names = ['fusermount3', 'fusermount']

/** The program that mounts for ordinary users, in a list of directories such as PATH. */
export function findFusermount(directories = ''): string | undefined {
  const paths = names.flatMap((name) =>
    directories.split(':').map((directory) => join(directory, name)),
  )
  return paths.find((path) => existsSync(path))
}
