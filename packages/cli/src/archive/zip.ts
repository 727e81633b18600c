import { type FileHandle, open } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { createInflateRaw } from 'node:zlib'
import { tarEnd, type TarEntry, tarHeader, tarPaddingBytes } from '@cairn/protocol'
import { cliError } from '../errors.ts'

/** The end record has 22 bytes and a comment of up to 64 KiB. */
const endBytes = 22
const commentBytesMax = 0xffff
const pieceBytes = 256 << 10
const stored = 0
const deflated = 8

interface ZipEntry {
  readonly name: Buffer
  readonly method: number
  readonly packedBytes: number
  readonly size: number
  /** Type and permissions; 0 where the archive was not made on Unix. */
  readonly unixMode: number
  readonly mtimeMs: number
  readonly offset: number
}

export async function isZip(path: string): Promise<boolean> {
  const file = await open(path)
  try {
    const magic = (await readAt(file, 0, 4)).toString('latin1')
    return ['PK\x03\x04', 'PK\x05\x06'].includes(magic)
  } finally {
    await file.close()
  }
}

/** Turns a zip archive into a tar stream, entry by entry. */
export async function* tarOfZip(path: string): AsyncGenerator<Uint8Array> {
  const file = await open(path)
  try {
    for (const entry of await readDirectory(file, path)) yield* tarEntry(file, path, entry)
  } finally {
    await file.close()
  }
  yield tarEnd
}

async function* tarEntry(
  file: FileHandle,
  path: string,
  entry: ZipEntry,
): AsyncGenerator<Uint8Array> {
  const packed = await openEntry(file, path, entry)
  const type = entry.unixMode >> 12
  const isDirectory = entry.name.at(-1) === 0x2f
  const common = {
    path: entry.name.toString('latin1'),
    mode: entry.unixMode & 0o7777 || (isDirectory ? 0o755 : 0o644),
    size: 0,
    mtimeNs: BigInt(entry.mtimeMs) * 1_000_000n,
  }
  if (isDirectory) yield tarHeader({ ...common, kind: 'directory' })
  else if (type === 0o12) {
    const chunks: Uint8Array[] = []
    for await (const chunk of packed) chunks.push(chunk)
    const target = Buffer.concat(chunks).toString('latin1')
    yield tarHeader({ ...common, kind: 'symlink', target })
  } else yield* tarFile({ ...common, kind: 'file', size: entry.size }, packed, path)
}

async function* tarFile(
  entry: TarEntry,
  content: AsyncIterable<Uint8Array>,
  path: string,
): AsyncGenerator<Uint8Array> {
  yield tarHeader(entry)
  let bytes = 0
  for await (const chunk of content) {
    bytes += chunk.length
    if (bytes > entry.size) break
    yield chunk
  }
  if (bytes !== entry.size) throw damaged(path, `${entry.path} has another size than it states`)
  const padding = tarPaddingBytes(entry.size)
  if (padding > 0) yield new Uint8Array(padding)
}

async function readDirectory(file: FileHandle, path: string): Promise<readonly ZipEntry[]> {
  const { size } = await file.stat()
  const tailBytes = Math.min(size, endBytes + commentBytesMax)
  const tail = await readAt(file, size - tailBytes, tailBytes)
  const at = tail.lastIndexOf(Buffer.from('PK\x05\x06', 'latin1'))
  if (at < 0) throw damaged(path, 'it has no directory at its end')
  const count = tail.readUInt16LE(at + 10)
  const [length, offset] = [tail.readUInt32LE(at + 12), tail.readUInt32LE(at + 16)]
  if (count === 0xffff || offset === 0xffff_ffff) throw damaged(path, 'it is a zip64 archive')
  const directory = await readAt(file, offset, length)
  const entries: ZipEntry[] = []
  for (let at = 0; entries.length < count;) {
    if (directory.length < at + 46 || directory.readUInt32LE(at) !== 0x0201_4b50)
      throw damaged(path, 'its directory is cut off')
    const [nameBytes, extraBytes, commentBytes] = [28, 30, 32].map((field) =>
      directory.readUInt16LE(at + field),
    ) as [number, number, number]
    if ((directory.readUInt16LE(at + 8) & 1) !== 0) throw damaged(path, 'it is encrypted')
    entries.push({
      name: directory.subarray(at + 46, at + 46 + nameBytes),
      method: directory.readUInt16LE(at + 10),
      packedBytes: directory.readUInt32LE(at + 20),
      size: directory.readUInt32LE(at + 24),
      unixMode: directory.readUInt32LE(at + 38) >>> 16,
      mtimeMs: dosTime(directory.readUInt16LE(at + 12), directory.readUInt16LE(at + 14)),
      offset: directory.readUInt32LE(at + 42),
    })
    at += 46 + nameBytes + extraBytes + commentBytes
  }
  return entries
}

async function openEntry(
  file: FileHandle,
  path: string,
  { offset, method, packedBytes, name }: ZipEntry,
): Promise<AsyncIterable<Uint8Array>> {
  const head = await readAt(file, offset, 30)
  const start = offset + 30 + head.readUInt16LE(26) + head.readUInt16LE(28)
  const packed = readRange(file, start, packedBytes)
  if (method === stored) return packed
  if (method === deflated) return Readable.from(packed).pipe(createInflateRaw())
  throw damaged(path, `${name.toString()} is compressed by method ${method}`)
}

async function* readRange(
  file: FileHandle,
  start: number,
  length: number,
): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < length; at += pieceBytes)
    yield await readAt(file, start + at, Math.min(pieceBytes, length - at))
}

async function readAt(file: FileHandle, offset: number, length: number): Promise<Buffer> {
  const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, offset)
  return buffer.subarray(0, bytesRead)
}

/** Local time, in steps of two seconds. */
function dosTime(time: number, date: number): number {
  const day = [1980 + (date >> 9), ((date >> 5) & 15) - 1, date & 31] as const
  return new Date(...day, time >> 11, (time >> 5) & 63, (time & 31) * 2).getTime()
}

function damaged(path: string, why: string): Error {
  const hint = 'Unpack it and use cairn fs cp -r, or make a tar archive.'
  return cliError('local_file', `import ${path}`, why, hint)
}
