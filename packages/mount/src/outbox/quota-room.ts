import { addUsage, blockBytes, dataLength, noUsage, type Op, type Usage } from '@cairn/core'
import type { SessionReply } from '@cairn/protocol'
import type { FileSystemStatistics } from '../fuse/file-system.ts'

type Room = Omit<Extract<SessionReply, { type: 'room' }>, 'type'>

const blockSize = 4096
/** What is shown where nothing limits a workspace. */
const roomy = 2 ** 32

/**
 * How much more may be acknowledged before the server could refuse it. Everything counts for the most it can be: what
 * the server has really counted is heard a moment later.
 */
export class QuotaRoom {
  #room: Room | undefined
  /** Acknowledged or asked for, and not yet heard of in the log, by batch. */
  readonly #pending = new Map<number, Usage>()

  /** It counts every batch that was heard of before. */
  hear(room: Room): void {
    this.#room = room
  }

  take(number: number, growth: Usage): void {
    if (growth === noUsage) return
    this.#pending.set(number, addUsage(this.#pending.get(number) ?? noUsage, growth))
  }

  /** What was taken under one number is now in another batch. */
  move(from: number, to: number): void {
    const growth = this.#pending.get(from)
    if (!growth) return
    this.#pending.delete(from)
    this.take(to, growth)
  }

  /** A batch is in the log. What the server says of the room comes right behind it. */
  settle(number: number): void {
    const { bytes, files } = this.#pending.get(number) ?? noUsage
    this.#pending.delete(number)
    if (!this.#room) return
    this.#room = {
      ...this.#room,
      bytes: Math.max(0, this.#room.bytes - bytes),
      files: Math.max(0, this.#room.files - files),
    }
  }

  /** A batch was refused. */
  drop(number: number): void {
    this.#pending.delete(number)
  }

  /** What was acknowledged is elsewhere. */
  forget(): void {
    this.#pending.clear()
  }

  has({ bytes, files }: Usage): boolean {
    if (bytes === 0 && files === 0) return true
    const room = this.#left()
    if (!room) return true
    return (bytes === 0 || bytes <= room.bytes) && (files === 0 || files <= room.files)
  }

  get statistics(): FileSystemStatistics {
    const left = this.#left()
    const bytes = shown(this.#room?.maxBytes, left?.bytes, blockSize)
    const files = shown(this.#room?.maxFiles, left?.files, 1)
    return {
      blocks: bytes.all,
      free: bytes.free,
      files: files.all,
      filesFree: files.free,
      blockSize,
      nameMax: 255,
    }
  }

  #left(): Usage | undefined {
    if (!this.#room) return undefined
    let { bytes, files } = this.#room
    for (const growth of this.#pending.values()) {
      bytes -= growth.bytes
      files -= growth.files
    }
    return { bytes: Math.max(0, bytes), files: Math.max(0, files) }
  }
}

function shown(
  most: number | undefined,
  left: number | undefined,
  unit: number,
): { readonly all: number; readonly free: number } {
  if (most === undefined || left === undefined || most === Number.MAX_SAFE_INTEGER)
    return { all: roomy, free: roomy }
  return { all: Math.floor(most / unit), free: Math.floor(left / unit) }
}

/** The most by which an operation can make the tree larger, as the server counts. */
export function growthMax(op: Op): Usage {
  if (op.type === 'create') return { bytes: 0, files: 1 }
  if (op.type === 'write')
    return { bytes: (op.offset % blockBytes) + dataLength(op.data), files: 0 }
  if (op.type === 'append') return { bytes: blockBytes + dataLength(op.data), files: 0 }
  if (op.type === 'copy') return { bytes: blockBytes + op.length, files: 0 }
  return noUsage
}
