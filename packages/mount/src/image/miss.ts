import type { Ino } from '@cairn/protocol'

/** The image does not know it yet: load it and ask again. */
export class ImageMiss extends Error {
  readonly what: 'inode' | 'directory'
  readonly ino: Ino

  constructor(what: 'inode' | 'directory', ino: Ino) {
    super(`${what} ${ino} is not loaded`)
    this.what = what
    this.ino = ino
  }
}
