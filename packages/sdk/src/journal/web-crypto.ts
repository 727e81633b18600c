import type { JournalCrypto } from '@cairn/protocol'

/** Hashing and checking signatures with what every runtime has. */
export const webCrypto: JournalCrypto = {
  sha256: async (text) =>
    toHex(new Uint8Array(await crypto.subtle.digest('SHA-256', new TextEncoder().encode(text)))),
  verify: async (publicKey, text, signature) => {
    try {
      const key = await crypto.subtle.importKey('raw', fromHex(publicKey), 'Ed25519', false, [
        'verify',
      ])
      const bytes = new TextEncoder().encode(text)
      return await crypto.subtle.verify('Ed25519', key, fromHex(signature), bytes)
    } catch {
      // It is no key.
      return false
    }
  },
}

function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0')).join('')
}

function fromHex(hex: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(hex.match(/../g) ?? [], (digits) => parseInt(digits, 16))
}
