import { existsSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { makeTemporaryDirectory, removeDirectory } from '../../conformance/temporary-directory.ts'
import { findMissingProgram, runProgram } from './server-process.ts'

const missing = findMissingProgram(['mkfs.ext4', 'e2fsck', 'losetup'])

export const whyNoFragileDisk: string | undefined =
  process.getuid?.() !== 0
    ? 'skipped: mounting a disk needs root'
    : !existsSync('/sys/fs/ext4') || !existsSync('/dev/loop-control')
      ? 'skipped: this kernel has no ext4 or no loop devices'
      : missing && `skipped: no ${missing}, install e2fsprogs`

/** A disk of its own that meets an error, as disks do, and is read-only from then on until it is fixed. */
export class FragileDisk {
  readonly path: string
  readonly #directory: string

  private constructor(directory: string) {
    this.#directory = directory
    this.path = join(directory, 'disk')
  }

  static async make(mebibytes: number): Promise<FragileDisk> {
    const disk = new FragileDisk(await makeTemporaryDirectory())
    await mkdir(disk.path)
    await runProgram('truncate', ['-s', `${mebibytes}M`, disk.#image])
    await runProgram('mkfs.ext4', ['-q', '-F', disk.#image])
    await disk.#mount()
    return disk
  }

  /** The kernel finds an error on it; `remount,ro` would be refused as long as a server has files open. */
  async fail(): Promise<void> {
    const device = await runProgram('findmnt', ['-n', '-o', 'SOURCE', this.path])
    await writeFile(`/sys/fs/ext4/${basename(device.trim())}/trigger_fs_error`, '1')
  }

  /** Nothing may be open on it. */
  async fix(): Promise<void> {
    await runProgram('umount', [this.path])
    // Its exit status tells how much there was to fix.
    await runProgram('e2fsck', ['-f', '-y', this.#image]).catch(() => undefined)
    await this.#mount()
  }

  async remove(): Promise<void> {
    // Lazily: a test that failed may have left files open.
    await runProgram('umount', ['-l', this.path]).catch(() => undefined)
    await removeDirectory(this.#directory)
  }

  get #image(): string {
    return join(this.#directory, 'image')
  }

  async #mount(): Promise<void> {
    await runProgram('mount', ['-o', 'loop,errors=remount-ro', this.#image, this.path])
  }
}
