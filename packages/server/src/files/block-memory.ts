import { blobHeadBytesMax, blockBytes } from '@cairn/core'

/** 8 MiB that stay when nothing is received. */
const idleMax = 32
const idle: ArrayBuffer[] = []

/**
 * Memory for a block, with room for a blob's head before it. What was in it is still there. It is used again and again, because
 * V8 counts such memory and collects for it: uploads spent half of their CPU time on that.
 */
export function takeBlock(): Uint8Array {
  const buffer = idle.pop() ?? new ArrayBuffer(blobHeadBytesMax + blockBytes)
  return new Uint8Array(buffer, blobHeadBytesMax, blockBytes)
}

/** Nothing reads the block or a part of it any more. */
export function giveBlock({ buffer }: Uint8Array): void {
  if (idle.length < idleMax) idle.push(buffer as ArrayBuffer)
}
