import { type ByteString, toByteString } from '../bytes.ts'
import { CairnError } from '../errors.ts'
import { ByteQueue } from './byte-queue.ts'
import { pathBytesMax } from '../path.ts'
import { checksumOf, tarBlockBytes, type TarEntry, type TarKind, tarPaddingBytes } from './entry.ts'

const kinds: Readonly<Record<string, TarKind>> = {
  '\0': 'file',
  '0': 'file',
  '7': 'file',
  '1': 'link',
  '2': 'symlink',
  '5': 'directory',
}
/** Names and times of one entry. */
const extensionBytesMax = 1 << 20
/** Others would only take memory: a global header holds for each entry behind it. */
const isNeeded = /^(?:path|linkpath|size|mtime|GNU\.sparse\..{1,20})$/
/** Years beyond these are no times of files. */
const secondsMax = 1e12
const nsPerSecond = 1_000_000_000n

/** The extensions of an entry that are known before its own header is read. */
type Extensions = Map<string, ByteString>

/**
 * Reads a tar archive as it comes: ustar, GNU's long names and pax. Take the content of an entry before you ask for
 * the next entry; content that you leave is skipped.
 */
export class TarReader {
  readonly #queue: ByteQueue
  #contentLeft = 0
  #padding = 0
  readonly #global: Extensions = new Map()

  constructor(chunks: AsyncIterable<Uint8Array>) {
    this.#queue = new ByteQueue(chunks)
  }

  /** Undefined at the end of the archive. */
  async next(): Promise<TarEntry | undefined> {
    while (this.#contentLeft > 0) await this.content(tarBlockBytes * 128)
    await this.#take(this.#padding)
    this.#padding = 0
    const own: Extensions = new Map()
    for (;;) {
      const header = await this.#queue.take(tarBlockBytes)
      if (header.every((byte) => byte === 0)) return this.#end()
      if (header.length < tarBlockBytes) throw malformed('it ends in the middle of a header')
      requireChecksum(header)
      const flag = String.fromCharCode(header[156]!)
      if (!(await this.#readExtension(flag, header, own)))
        return this.#begin(flag, header, new Map([...this.#global, ...own]))
    }
  }

  /** Up to so many bytes of the entry's content; none when there is no more. */
  async content(bytesMax: number): Promise<Uint8Array> {
    const bytes = await this.#take(Math.min(bytesMax, this.#contentLeft))
    this.#contentLeft -= bytes.length
    return bytes
  }

  /** What follows the last entry belongs to no file. It is read, so that the sender can end. */
  async #end(): Promise<undefined> {
    while ((await this.#queue.take(tarBlockBytes * 128)).length > 0);
  }

  async #take(count: number): Promise<Uint8Array> {
    const bytes = await this.#queue.take(count)
    if (bytes.length < count) throw malformed('it ends in the middle of an entry')
    return bytes
  }

  async #readExtension(flag: string, header: Uint8Array, own: Extensions): Promise<boolean> {
    if (!'xgLK'.includes(flag)) return false
    const size = numberAt(header, 124, 12)
    if (size > extensionBytesMax) throw malformed(`a name or time takes ${size} bytes`)
    const bytes = await this.#take(size)
    await this.#take(tarPaddingBytes(size))
    if (flag === 'L' || flag === 'K')
      own.set(flag === 'L' ? 'path' : 'linkpath', untilZero(toByteString(bytes)))
    else readRecords(toByteString(bytes), flag === 'x' ? own : this.#global)
    return true
  }

  #begin(flag: string, header: Uint8Array, extensions: Extensions): TarEntry {
    const path = requireShort(extensions.get('path') ?? nameOf(header))
    const kind = kinds[flag]
    if (kind === undefined || [...extensions.keys()].some((key) => key.startsWith('GNU.sparse')))
      throw malformed(
        `'${path}' is neither a file, a directory, a symlink nor a hard link (type '${flag}')`,
      )
    const stated = extensions.get('size')
    const size =
      kind === 'file' ? (stated === undefined ? numberAt(header, 124, 12) : Number(stated)) : 0
    if (!Number.isSafeInteger(size) || size < 0) throw malformed(`'${path}' has no valid size`)
    this.#contentLeft = size
    this.#padding = tarPaddingBytes(size)
    const mtime = extensions.get('mtime')
    const entry = {
      path,
      kind: kind === 'file' && path.endsWith('/') ? ('directory' as const) : kind,
      mode: numberAt(header, 100, 8) & 0o7777,
      size,
      mtimeNs: mtime === undefined ? BigInt(secondsAt(header)) * nsPerSecond : nanosecondsOf(mtime),
    }
    if (kind !== 'symlink' && kind !== 'link') return entry
    const target = extensions.get('linkpath') ?? fieldAt(header, 157, 100)
    return { ...entry, target: requireShort(target) }
  }
}

/** Before it is taken apart: a path of many thousand parts takes long. */
function requireShort(path: ByteString): ByteString {
  if (path.length < pathBytesMax) return path
  throw malformed(`the path '${path.slice(0, 100)}…' has ${path.length} bytes`)
}

function secondsAt(header: Uint8Array): number {
  const seconds = numberAt(header, 136, 12)
  if (Math.abs(seconds) < secondsMax) return seconds
  throw malformed(`${seconds} seconds is no time of a file`)
}

function nameOf(header: Uint8Array): ByteString {
  const name = fieldAt(header, 0, 100)
  // GNU's own format keeps times where ustar has the rest of the name.
  const prefix = fieldAt(header, 257, 6) === 'ustar' ? fieldAt(header, 345, 155) : ''
  return prefix === '' ? name : `${prefix}/${name}`
}

function fieldAt(header: Uint8Array, offset: number, width: number): ByteString {
  const end = header.indexOf(0, offset)
  const last = offset + width
  return toByteString(header.subarray(offset, end < 0 || end > last ? last : end))
}

function untilZero(text: ByteString): ByteString {
  const end = text.indexOf('\0')
  return end < 0 ? text : text.slice(0, end)
}

/** Octal digits; or, where they do not suffice, GNU's two's complement behind a set bit. */
function numberAt(header: Uint8Array, offset: number, width: number): number {
  const first = header[offset]!
  if ((first & 0x80) === 0) {
    const short = shortNumberAt(header, offset, width)
    if (short !== undefined) return short
    const digits = fieldAt(header, offset, width).trim()
    if (/^[0-7]*$/.test(digits)) return digits === '' ? 0 : parseInt(digits, 8)
    throw malformed(`'${digits}' is no number`)
  }
  let value = BigInt(first & 0x7f)
  for (const byte of header.subarray(offset + 1, offset + width))
    value = (value << 8n) | BigInt(byte)
  return Number(BigInt.asIntN(width * 8 - 1, value))
}

/** Octal digits and then a zero, as nearly all writers have it. Undefined for other forms. */
function shortNumberAt(header: Uint8Array, offset: number, width: number): number | undefined {
  let value = 0
  for (let at = offset; at < offset + width; at++) {
    const byte = header[at]!
    if (byte === 0) return value
    if (byte < 0x30 || byte > 0x37) return undefined
    value = value * 8 + (byte - 0x30)
  }
  return undefined
}

function requireChecksum(header: Uint8Array): void {
  const stated = numberAt(header, 148, 8)
  if (checksumOf(header) !== stated) throw malformed('a header is damaged, or it is no tar archive')
}

/** `LENGTH KEY=VALUE\n`, one after the other. */
function readRecords(text: ByteString, into: Extensions): void {
  for (let at = 0; at < text.length;) {
    const space = text.indexOf(' ', at)
    const length = Number(text.slice(at, space))
    const equals = text.indexOf('=', space)
    const end = at + length
    const isWhole = space > at && equals > space && equals < end && text[end - 1] === '\n'
    if (!isWhole || end > text.length) throw malformed('a pax record is damaged')
    const key = text.slice(space + 1, Math.min(equals, space + 40))
    if (isNeeded.test(key)) into.set(key, text.slice(equals + 1, end - 1))
    at = end
  }
}

function nanosecondsOf(decimal: string): bigint {
  const match = /^(-?)(\d{1,12})(?:\.(\d*))?$/.exec(decimal)
  if (!match) throw malformed(`'${decimal}' is no time`)
  const fraction = (match[3] ?? '').slice(0, 9).padEnd(9, '0')
  const ns = BigInt(match[2]!) * nsPerSecond + BigInt(fraction)
  return match[1] === '-' ? -ns : ns
}

function malformed(why: string): CairnError {
  return new CairnError('malformed', { what: 'read the archive', reason: why })
}
