import type { Ino } from '@cairn/protocol'

type Missed = 'inode' | 'directory' | 'look' | 'pages' | 'blocks'

/**
 * The image does not know it yet: load it and ask again. `look`: it does not know whether it has all of the directory.
 * `pages`: the kernel has pages of the file that are older than the image. `blocks`: how many blocks the file takes is
 * a guess.
 */
export class ImageMiss extends Error {
  readonly what: Missed
  readonly ino: Ino

  constructor(what: Missed, ino: Ino) {
    super(`${what} ${ino} is not loaded`)
    this.what = what
    this.ino = ino
  }
}
