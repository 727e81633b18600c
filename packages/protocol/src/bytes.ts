/**
 * A string whose every character is one byte (0–255). Names and hashes live in memory this way: any
 * bytes round-trip, they compare and hash natively as map keys, and V8 stores one byte a character.
 */
export type ByteString = string

export function toByteString(bytes: Uint8Array): ByteString {
  // apply() is limited by the stack; names and hashes are far below it, symlink targets are not always.
  if (bytes.length <= 4096) return String.fromCharCode.apply(null, bytes as unknown as number[])
  let text = ''
  for (let at = 0; at < bytes.length; at += 4096)
    text += toByteString(bytes.subarray(at, at + 4096))
  return text
}

export function fromByteString(text: ByteString): Uint8Array {
  const bytes = new Uint8Array(text.length)
  for (let i = 0; i < text.length; i++) bytes[i] = text.charCodeAt(i)
  return bytes
}

const hexDigits: readonly string[] = Array.from({ length: 256 }, (_, byte) =>
  byte.toString(16).padStart(2, '0'),
)

export function toHex(text: ByteString): string {
  let hex = ''
  for (let i = 0; i < text.length; i++) hex += hexDigits[text.charCodeAt(i)]
  return hex
}

/** Undefined when `hex` is not a whole number of hexadecimal bytes. */
export function fromHex(hex: string): ByteString | undefined {
  if (hex.length % 2 !== 0 || !/^[0-9a-f]*$/i.test(hex)) return undefined
  let text = ''
  for (let i = 0; i < hex.length; i += 2)
    text += String.fromCharCode(parseInt(hex.slice(i, i + 2), 16))
  return text
}

export function compareBytes(a: Uint8Array, b: Uint8Array): number {
  const length = Math.min(a.length, b.length)
  for (let i = 0; i < length; i++) {
    const difference = a[i]! - b[i]!
    if (difference !== 0) return difference
  }
  return a.length - b.length
}

export function equalBytes(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  for (let i = 0; i < a.length; i++) if (a[i] !== b[i]) return false
  return true
}

export function concatBytes(parts: readonly Uint8Array[]): Uint8Array {
  let length = 0
  for (const part of parts) length += part.length
  const whole = new Uint8Array(length)
  let at = 0
  for (const part of parts) {
    whole.set(part, at)
    at += part.length
  }
  return whole
}
