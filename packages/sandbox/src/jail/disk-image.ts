import { existsSync } from 'node:fs'
import { mkdir, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { runProgram } from './run-program.ts'
import { isRoot } from './users.ts'

/** ext4 needs some of it for itself. */
const bytesMin = 64 << 20

/** Beside the mount point `disk`. */
const imageName = 'disk.ext4'

/** Why this machine cannot limit disks; undefined if it can. */
export function whyNoImages(): string | undefined {
  if (!isRoot()) return 'only root can mount a file system of limited size'
  if (!existsSync('/dev/loop-control')) return 'there are no loop devices (/dev/loop-control)'
  const isThere = ['/usr/sbin', '/sbin', '/usr/bin'].some((place) =>
    existsSync(join(place, 'mkfs.ext4')),
  )
  return isThere ? undefined : 'mkfs.ext4 is missing (Debian: apt install e2fsprogs)'
}

/**
 * Mounts an empty file system of that size at `disk` in a jail's directory: what does not fit is ENOSPC in the jail. It is
 * a file with holes, so it takes the room that is used. `seeds` is shared between jails.
 */
export async function mountImage(directory: string, seeds: string, bytes: number): Promise<void> {
  const why = whyNoImages()
  if (why !== undefined)
    throw new Error(`cannot limit a jail's disk: ${why}. Leave the limit out, or fix that.`)
  if (!Number.isSafeInteger(bytes) || bytes < bytesMin)
    throw new Error(`cannot limit a jail's disk to ${bytes} bytes: want ${bytesMin} or more`)
  const image = join(directory, imageName)
  const place = join(directory, 'disk')
  await mkdir(place)
  await runProgram('cp', ['--sparse=always', await makeEmpty(seeds, bytes), image])
  // Nothing of it outlives the jail, so nothing is prepared for later.
  await runProgram('mount', ['-o', 'loop,noatime,nodev,noinit_itable', image, place])
}

/** Where it is mounted. The loop device goes with the last one who uses it. */
export async function unmountImage(directory: string): Promise<void> {
  if (!existsSync(join(directory, imageName))) return
  // Not mounted any more, or never: a killed server may have come as far as either.
  await runProgram('umount', ['--lazy', join(directory, 'disk')]).catch(() => undefined)
}

/** Making a file system takes ten times as long as copying one. Without a journal: a jail's disk outlives no crash. */
async function makeEmpty(seeds: string, bytes: number): Promise<string> {
  const empty = join(seeds, `empty-${bytes}.ext4`)
  if (existsSync(empty)) return empty
  const making = join(seeds, `making-${process.pid}-${performance.now()}.ext4`)
  try {
    await runProgram('truncate', ['-s', `${bytes}`, making])
    const options = 'lazy_itable_init=1,nodiscard,root_owner=0:0'
    await runProgram('mkfs.ext4', [
      '-q',
      '-F',
      '-m',
      '0',
      '-O',
      '^has_journal',
      '-E',
      options,
      making,
    ])
    await rename(making, empty)
  } finally {
    await rm(making, { force: true })
  }
  return empty
}
