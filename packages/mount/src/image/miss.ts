import type { Ino } from '@cairn/protocol'

/**
 * The image does not know it yet: load it and ask again. `look`: it does not know whether it has all of the directory.
 */
export class ImageMiss extends Error {
  readonly what: 'inode' | 'directory' | 'look'
  readonly ino: Ino

  constructor(what: 'inode' | 'directory' | 'look', ino: Ino) {
    super(`${what} ${ino} is not loaded`)
    this.what = what
    this.ino = ino
  }
}
