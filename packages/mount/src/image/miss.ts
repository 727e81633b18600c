import type { Ino } from '@cairn/protocol'

/**
 * The image does not know it yet: load it and ask again. `look`: it does not know whether it has all of the directory.
 * `pages`: the kernel has pages of the file that are older than the image.
 */
export class ImageMiss extends Error {
  readonly what: 'inode' | 'directory' | 'look' | 'pages'
  readonly ino: Ino

  constructor(what: 'inode' | 'directory' | 'look' | 'pages', ino: Ino) {
    super(`${what} ${ino} is not loaded`)
    this.what = what
    this.ino = ino
  }
}
