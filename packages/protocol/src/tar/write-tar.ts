import { type ByteString, fromByteString } from '../bytes.ts'
import { checksumOf, tarBlockBytes, type TarEntry, tarPaddingBytes } from './entry.ts'

const typeFlags = { file: '0', link: '1', symlink: '2', directory: '5' } as const
const nameBytesMax = 100
/** What eleven octal digits hold. */
const octalMax = 8 ** 11 - 1
const nsPerSecond = 1_000_000_000n

/** Two empty blocks end an archive. */
export const tarEnd: Uint8Array = new Uint8Array(2 * tarBlockBytes)

/** What stands before an entry's content. Long names and exact times are in a pax header of their own. */
export function tarHeader(entry: TarEntry): Uint8Array {
  const { path, target = '', size, mtimeNs } = entry
  const name = entry.kind === 'directory' && !path.endsWith('/') ? `${path}/` : path
  const seconds = mtimeNs / nsPerSecond
  const pax = [
    ...(needsPax(name) ? [record('path', name)] : []),
    ...(needsPax(target) ? [record('linkpath', target)] : []),
    ...(size > octalMax ? [record('size', String(size))] : []),
    ...(seconds * nsPerSecond === mtimeNs && isOctal(seconds)
      ? []
      : [record('mtime', decimalSeconds(mtimeNs))]),
  ].join('')
  const header = ustar(entry, name, isOctal(seconds) ? Number(seconds) : 0)
  if (pax === '') return header
  const extension = { path: 'pax', kind: 'file', mode: 0o644, mtimeNs: 0n } as const
  const extra = ustar({ ...extension, size: pax.length }, extension.path, 0, 'x')
  const bytes = new Uint8Array(2 * tarBlockBytes + pax.length + tarPaddingBytes(pax.length))
  bytes.set(extra)
  bytes.set(fromByteString(pax), tarBlockBytes)
  bytes.set(header, bytes.length - tarBlockBytes)
  return bytes
}

/** Readers disagree about the encoding of other names in a plain header. */
function needsPax(name: ByteString): boolean {
  return name.length > nameBytesMax || /[^\x20-\x7e]/.test(name)
}

function isOctal(seconds: bigint): boolean {
  return seconds >= 0n && seconds <= BigInt(octalMax)
}

function decimalSeconds(ns: bigint): string {
  const sign = ns < 0n ? '-' : ''
  const size = ns < 0n ? -ns : ns
  const fraction = String(size % nsPerSecond).padStart(9, '0')
  return `${sign}${size / nsPerSecond}.${fraction}`
}

/** `LENGTH KEY=VALUE\n`, where the length counts itself. */
function record(key: string, value: ByteString): ByteString {
  const rest = ` ${key}=${value}\n`
  let length = rest.length
  while (String(length).length + rest.length !== length)
    length = String(length).length + rest.length
  return `${length}${rest}`
}

function ustar(
  { kind, mode, size, target = '' }: TarEntry,
  name: ByteString,
  seconds: number,
  flag: string = typeFlags[kind],
): Uint8Array {
  const header = new Uint8Array(tarBlockBytes)
  const put = (offset: number, text: ByteString): void => {
    for (let at = 0; at < text.length; at++) header[offset + at] = text.charCodeAt(at)
  }
  const octal = (offset: number, width: number, value: number): void =>
    put(offset, value.toString(8).padStart(width - 1, '0'))
  put(0, name.slice(0, nameBytesMax))
  octal(100, 8, mode & 0o7777)
  octal(108, 8, 0)
  octal(116, 8, 0)
  octal(124, 12, size > octalMax ? 0 : size)
  octal(136, 12, seconds)
  put(156, flag)
  put(157, target.slice(0, nameBytesMax))
  put(257, 'ustar\x0000')
  octal(148, 7, checksumOf(header))
  header[155] = 0x20
  return header
}
