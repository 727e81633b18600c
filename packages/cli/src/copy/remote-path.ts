import { type ByteString, fromByteString } from '@cairn/protocol'
import type { FilePath } from '@cairn/sdk'

/** Text where it can be, because some requests take nothing else; the bytes otherwise. */
export function remotePath(root: string, below: ByteString): FilePath {
  const path = Buffer.concat([
    Buffer.from(root.replace(/\/+$/, '')),
    ...(below === '' ? [] : [Buffer.from('/'), Buffer.from(fromByteString(below))]),
  ])
  const text = path.toString()
  return Buffer.from(text).equals(path) ? text || '/' : path
}

/** Undefined when the bytes are not UTF-8. */
export function textOf(bytes: ByteString): string | undefined {
  const buffer = Buffer.from(bytes, 'latin1')
  const text = buffer.toString()
  return Buffer.from(text).equals(buffer) ? text : undefined
}
