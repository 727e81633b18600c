const alphabet = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_'

/** Base64url of RFC 4648 §5, without padding: safe in URLs, headers and file names. */
export function toBase64Url(bytes: Uint8Array): string {
  let text = ''
  for (let at = 0; at < bytes.length; at += 3) {
    const [a, b = 0, c = 0] = bytes.subarray(at, at + 3)
    const bits = (a! << 16) | (b << 8) | c
    const digits = [bits >>> 18, (bits >>> 12) & 63, (bits >>> 6) & 63, bits & 63]
    text += digits
      .slice(0, Math.min(4, bytes.length - at + 1))
      .map((digit) => alphabet[digit])
      .join('')
  }
  return text
}

/** Undefined for everything that `toBase64Url` does not give: what can be spelled in two ways can be forged. */
export function fromBase64Url(text: string): Uint8Array | undefined {
  const bytes = new Uint8Array(Math.floor((text.length * 3) / 4))
  let [bits, held, at] = [0, 0, 0]
  for (const character of text) {
    const digit = alphabet.indexOf(character)
    if (digit < 0) return undefined
    bits = ((bits << 6) | digit) & 0xffff
    held += 6
    if (held < 8) continue
    held -= 8
    bytes[at++] = (bits >>> held) & 0xff
  }
  return toBase64Url(bytes) === text ? bytes : undefined
}
