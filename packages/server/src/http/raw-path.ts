import type { IncomingMessage } from 'node:http'
import { type ByteString, FsError, nameBytesMax, pathBytesMax, type Spelled } from '@cairn/protocol'

/**
 * File names are bytes, and routers want UTF-8. So the path is taken out of the URL before routing and put
 * back together here, from its percent-encoding, byte by byte.
 */
const filePath = Symbol('cairn.file-path')

type Carrier = IncomingMessage & { [filePath]?: string }

const filesUrl = /^(\/v1\/workspaces\/[^/?]+\/files)(\/[^?]*)?(\?.*)?$/

/** For the router: the URL without the file's path. */
export function takePath(request: IncomingMessage): string {
  const url = request.url ?? '/'
  const match = filesUrl.exec(url)
  if (!match) return url
  ;(request as Carrier)[filePath] = match[2] ?? '/'
  return `${match[1]}${match[3] ?? ''}`
}

/** The path of a `files` request. Throws EINVAL or ENAMETOOLONG for what cannot be a path. */
export function pathOfRequest(request: IncomingMessage): ByteString {
  return checkPath(decodePercent((request as Carrier)[filePath] ?? '/'))
}

/** A path from JSON or a query, which is text. */
export function pathOfText(text: string): ByteString {
  return checkPath(bytesOfText(text))
}

/** Encoding would put U+FFFD for half a surrogate pair, and two paths would name one file. */
export function bytesOfText(text: string): ByteString {
  if (!text.isWellFormed()) throw new FsError('EINVAL')
  return Buffer.from(text, 'utf8').toString('latin1')
}

/** Undefined when it is not base64. Both alphabets will do. */
export function bytesOfBase64(text: string): ByteString | undefined {
  if (!/^[\w+/-]*={0,2}$/.test(text)) return undefined
  return Buffer.from(text, 'base64').toString('latin1')
}

/** Text under its name or, with `Bytes` at the end of the name, base64. The schema has checked that it is one of them. */
export function spelledBytes<Field extends string>(
  value: Spelled<Field>,
  field: Field,
): ByteString {
  const { [field]: text, [`${field}Bytes`]: base64 } = value as Readonly<Record<string, string>>
  return text === undefined ? bytesOfBase64(base64!)! : bytesOfText(text)
}

export function spelledPath<Field extends string>(value: Spelled<Field>, field: Field): ByteString {
  return checkPath(spelledBytes(value, field))
}

export function checkPath(path: ByteString): ByteString {
  if (path.length >= pathBytesMax) throw new FsError('ENAMETOOLONG')
  const parts = path.split('/').filter((part) => part !== '' && part !== '.')
  for (const part of parts) {
    if (part === '..' || part.includes('\0')) throw new FsError('EINVAL')
    if (part.length > nameBytesMax) throw new FsError('ENAMETOOLONG')
  }
  return `/${parts.join('/')}`
}

function decodePercent(text: string): ByteString {
  if (/%(?![0-9a-f]{2})/i.test(text)) throw new FsError('EINVAL')
  return text.replace(/%([0-9a-f]{2})/gi, (_, hex: string) =>
    String.fromCharCode(parseInt(hex, 16)),
  )
}
