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
  /** What this mount may count on of that: others acknowledge by the rest. */
  #share: Usage | undefined
  /** Acknowledged or asked for, and not yet heard of in the log, by batch. */
  readonly #pending = new Map<number, Usage>()

  /** It counts every batch that was heard of before. */
  hear(room: Room): void {
    this.#room = room
  }

  /**
   * Counted as the room is. False when more was acknowledged, and must be at the server before the share is no more than
   * that.
   */
  hearShare({ bytes, files }: Usage): boolean {
    this.#share = { bytes, files }
    const pending = this.#sum()
    return pending.bytes <= bytes && pending.files <= files
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
    const growth = this.#pending.get(number) ?? noUsage
    this.#pending.delete(number)
    if (this.#room) this.#room = { ...this.#room, ...without(this.#room, growth) }
    if (this.#share) this.#share = without(this.#share, growth)
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
    const fits = (left: Usage | undefined): boolean =>
      !left || ((bytes === 0 || bytes <= left.bytes) && (files === 0 || files <= left.files))
    return fits(this.#left(this.#room)) && fits(this.#left(this.#share))
  }

  get statistics(): FileSystemStatistics {
    const left = this.#left(this.#room)
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

  #left(of: Usage | undefined): Usage | undefined {
    return of && without(of, this.#sum())
  }

  #sum(): Usage {
    return [...this.#pending.values()].reduce(addUsage, noUsage)
  }
}

function without(room: Usage, growth: Usage): Usage {
  return {
    bytes: Math.max(0, room.bytes - growth.bytes),
    files: Math.max(0, room.files - growth.files),
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
