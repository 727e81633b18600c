import { CairnError, fromByteString, type Hash, hashBytes, toByteString } from '@cairn/protocol'
import type { Row, SqlValue } from './database.ts'
import { keyBytesMax } from './dialect.ts'

/** Values on their way into columns and out of them. What a column gives back wrong is a bug of ours. */

export function textBytes(text: string): Uint8Array {
  return utf8Encoder.encode(text)
}

/**
 * The bytes of ids and names. Rejects what would come back as another one: half a surrogate pair
 * has no UTF-8, and a lenient database truncates what is too long.
 */
export function keyBytes(text: string): Uint8Array {
  const bytes = textBytes(text)
  if (bytes.length <= keyBytesMax && text.isWellFormed()) return bytes
  throw new CairnError('invalid_argument', {
    what: 'store an id or name',
    reason: `want well-formed Unicode of up to ${keyBytesMax} bytes`,
  })
}

export function hashColumn(hash: Hash): Uint8Array {
  return fromByteString(hash)
}

export function numberOf(row: Row, column: string): number {
  const value = row[column]
  if (typeof value === 'number') return value
  throw unexpected(column, 'a number', value)
}

export function optionalNumberOf(row: Row, column: string): number | undefined {
  return row[column] === null ? undefined : numberOf(row, column)
}

export function bytesOf(row: Row, column: string): Uint8Array {
  const value = row[column]
  if (value instanceof Uint8Array) return value
  throw unexpected(column, 'bytes', value)
}

export function textOf<Text extends string>(row: Row, column: string): Text {
  return utf8Decoder.decode(bytesOf(row, column)) as Text
}

export function optionalTextOf<Text extends string>(row: Row, column: string): Text | undefined {
  return row[column] === null ? undefined : textOf<Text>(row, column)
}

export function hashOf(row: Row, column: string): Hash {
  const bytes = bytesOf(row, column)
  if (bytes.length === hashBytes) return toByteString(bytes) as Hash
  throw unexpected(column, 'a hash', null)
}

function unexpected(column: string, wanted: string, found: SqlValue | undefined): Error {
  return new Error(`column ${column} holds no ${wanted}: ${typeof found}`)
}

const utf8Encoder = new TextEncoder()
const utf8Decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
