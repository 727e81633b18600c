import {
  blockBytes,
  type Call,
  type Data,
  dataCalls,
  type Op,
  withoutTrailingZeros,
} from '@cairn/core'
import type { Ino } from '@cairn/protocol'
import type { Thread } from './thread.ts'

/** Up to this many bytes stand in the log itself. */
const logBytesMax = 4096

/** A write as a mount sends it: few bytes inside the log, many as blobs that are stored before it. */
export async function writeOps(
  thread: Thread,
  ino: Ino,
  offset: number,
  bytes: Uint8Array,
): Promise<readonly Op[]> {
  if (bytes.length > logBytesMax) return blobOps(thread, ino, offset, bytes)
  const data = { type: 'bytes', bytes: bytes.slice() } as const
  return [await thread.look((call) => dataCalls.write(call, ino, offset, data))]
}

async function blobOps(
  thread: Thread,
  ino: Ino,
  offset: number,
  bytes: Uint8Array,
): Promise<readonly Op[]> {
  const ops: Op[] = []
  for (let at = 0; at < bytes.length;) {
    const start = offset + at
    const length = Math.min(bytes.length - at, blockBytes - (start % blockBytes))
    // A fold takes a blob as the block that it is, and blocks do not end with zeros: those become a hole.
    const written = withoutTrailingZeros(bytes.subarray(at, at + length))
    const data = await storeBlob(thread, written)
    const zeros = length - written.length
    const make = (call: Call): Op[] => [
      ...(written.length > 0 ? [dataCalls.write(call, ino, start, data)] : []),
      ...(zeros > 0 ? [dataCalls.fallocate(call, ino, 'zero', start + written.length, zeros)] : []),
    ]
    ops.push(...(await thread.look(make)))
    at += length
  }
  return ops
}

async function storeBlob({ workspace }: Thread, bytes: Uint8Array): Promise<Data> {
  const { blobs } = workspace.stores
  const blob = await blobs.seal(bytes)
  await blobs.store([blob])
  const { length } = bytes
  return { type: 'blob', id: blob.id, blobLength: length, start: 0, length }
}
