import { randomBytes } from 'node:crypto'
import { open, rm, statfs } from 'node:fs/promises'
import { join } from 'node:path'
import type { BlobDraft, BlobStore } from '@cairn/core'
import { CairnError, isCairnError } from '@cairn/protocol'
import type { ObjectStore } from '../object-store.ts'
import { privateFileMode } from '../private-files.ts'

const bytesMax = 16 << 20
/** On a small disk, a small part. */
const partOfDisk = 64
/** Taken only where so many times as much is free: it must not be what fills the disk. */
const timesFree = 4
const pieceBytes = 1 << 20

/**
 * Space set aside on the disk of the data directory, as a file. A full disk leaves no room for deleting either: SQLite
 * notes what it deletes before it frees anything. So the file is given up when the disk is short, and taken again when
 * there is room.
 */
export class DiskReserve {
  readonly #directory: string
  readonly #path: string
  #isReleased = false

  constructor(directory: string) {
    this.#directory = directory
    this.#path = join(directory, 'reserve')
  }

  /** Given up by this process, and not taken again since. */
  get isReleased(): boolean {
    return this.#isReleased
  }

  /** False when there is too little room. */
  async take(): Promise<boolean> {
    const { freeBytes, sizeBytes } = await this.#look()
    if (freeBytes < timesFree * sizeBytes) return false
    try {
      await writeWhole(this.#path, sizeBytes)
    } catch {
      await rm(this.#path, { force: true })
      return false
    }
    this.#isReleased = false
    return true
  }

  /** Gives the space up if the disk is short. False when it is not, or nothing was set aside. */
  async releaseIfShort(): Promise<boolean> {
    const { freeBytes, sizeBytes } = await this.#look()
    if (freeBytes >= sizeBytes) return false
    try {
      await rm(this.#path)
    } catch {
      return false
    }
    this.#isReleased = true
    return true
  }

  async #look(): Promise<{ freeBytes: number; sizeBytes: number }> {
    const { bavail, blocks, bsize } = await statfs(this.#directory)
    const sizeBytes = Math.min(bytesMax, Math.floor((blocks * bsize) / partOfDisk))
    return { freeBytes: bavail * bsize, sizeBytes }
  }
}

/**
 * Gives the reserve up when the disk is full, so that what an upload stored in vain can be deleted. Takes no new objects until
 * it has it back: they would use it before anything is deleted.
 */
export function withReserve(objects: ObjectStore, reserve: DiskReserve): ObjectStore {
  return {
    put: async (key, ...parts) => {
      if (reserve.isReleased && !(await reserve.take()))
        throw new CairnError('storage_full', {
          what: `write ${key}`,
          reason: 'the disk is full. Make room on it, or run: cairn server gc',
          subject: key,
        })
      try {
        await objects.put(key, ...parts)
      } catch (error) {
        if (isCairnError(error, 'storage_full')) await reserve.releaseIfShort().catch(() => false)
        throw error
      }
    },
    get: (key, range) => objects.get(key, range),
    delete: (key) => objects.delete(key),
    list: (prefix, after) => objects.list(prefix, after),
    close: () => objects.close(),
  }
}

/** Gives the reserve up, if the disk is short, before a draft is deleted: the database may have met the full disk first. */
export function withRoomToDrop(blobs: BlobStore, reserve: DiskReserve): BlobStore {
  const roomy = (draft: BlobDraft): BlobDraft => ({
    put: (some) => draft.put(some),
    keep: () => draft.keep(),
    drop: async () => {
      await reserve.releaseIfShort().catch(() => false)
      await draft.drop()
    },
  })
  return {
    get: (id) => blobs.get(id),
    put: (some) => blobs.put(some),
    touch: (ids) => blobs.touch(ids),
    draft: (nowMs) => roomy(blobs.draft(nowMs)),
  }
}

/** Random, so that no file system stores it as a hole or compressed. */
async function writeWhole(path: string, sizeBytes: number): Promise<void> {
  const file = await open(path, 'w', privateFileMode)
  try {
    for (let left = sizeBytes; left > 0; left -= pieceBytes)
      await file.writeFile(randomBytes(Math.min(left, pieceBytes)))
    await file.sync()
  } finally {
    await file.close()
  }
}
