import { open } from 'node:fs/promises'
import { cliError } from '../errors.ts'

const magicBytes = 'cairn bundle 1\n'.length
const hashBytes = 32
/** A length has eight bytes at most. */
const frontBytes = magicBytes + 1 + 8

/** How a bundle begins, up to the end of its head, and its id, which is its last hash. The server checks both. */
export async function readBundleEnds(path: string): Promise<Uint8Array> {
  const file = await open(path)
  try {
    const { size } = await file.stat()
    const front = Buffer.alloc(Math.min(frontBytes, size))
    await file.read(front, 0, front.length, 0)
    const end = endOfHead(front)
    if (end === undefined || end + hashBytes > size) throw noBundle(path)
    const ends = Buffer.alloc(end + hashBytes)
    await file.read(ends, 0, end, 0)
    await file.read(ends, end, hashBytes, size - hashBytes)
    return ends
  } finally {
    await file.close()
  }
}

function endOfHead(front: Buffer): number | undefined {
  let length = 0
  let scale = 1
  for (let at = magicBytes + 1; at < front.length; at++) {
    length += (front[at]! & 0x7f) * scale
    scale *= 128
    if (front[at]! < 0x80) return at + 1 + length + hashBytes
  }
  return undefined
}

function noBundle(path: string): Error {
  return cliError(
    'local_file',
    `read ${path}`,
    'it is no bundle',
    'Name one that cairn ws export wrote.',
  )
}
