import { createCipheriv, createDecipheriv, randomBytes } from 'node:crypto'
import { CairnError } from '@cairn/protocol'

const nonceBytes = 12
const tagBytes = 16
export const secretKeyBytes = 32
/** Node would take shorter tags, which are easier to forge. */
const options = { authTagLength: tagBytes }

/**
 * What encrypted bytes are and where they belong. Bytes that are moved elsewhere cannot be decrypted: another workspace's,
 * another secret's, another version's or another field's value cannot be passed off as this one.
 */
export type SecretPlace = readonly [what: string, ...where: (string | number)[]]

/** Encrypts with AES-256-GCM: a random nonce, the ciphertext, the tag. */
export function encrypt(key: Uint8Array, plain: Uint8Array, place: SecretPlace): Uint8Array {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv('aes-256-gcm', key, nonce, options)
  cipher.setAAD(describe(place))
  return Buffer.concat([nonce, cipher.update(plain), cipher.final(), cipher.getAuthTag()])
}

/** Rejects with `corrupt` what was not encrypted with this key for this place. */
export function decrypt(key: Uint8Array, encrypted: Uint8Array, place: SecretPlace): Uint8Array {
  try {
    const nonce = encrypted.subarray(0, nonceBytes)
    const decipher = createDecipheriv('aes-256-gcm', key, nonce, options)
    decipher.setAAD(describe(place))
    decipher.setAuthTag(encrypted.subarray(-tagBytes))
    const plain = decipher.update(encrypted.subarray(nonceBytes, -tagBytes))
    // GCM gives everything at once; this only checks the tag.
    decipher.final()
    return plain
  } catch (cause) {
    throw new CairnError('corrupt', {
      what: `decrypt the ${place[0]}`,
      reason: 'it was not encrypted for this place, or has been changed',
      subject: place.join(' '),
      cause,
    })
  }
}

/** JSON keeps the parts apart, whatever is in them. */
function describe(place: SecretPlace): Uint8Array {
  return Buffer.from(JSON.stringify(place))
}

/** Does the work and then wipes what it was given: what is not in memory is in no core dump either. */
export async function wiping<T>(
  secret: Uint8Array,
  work: (secret: Uint8Array) => T | Promise<T>,
): Promise<T> {
  try {
    return await work(secret)
  } finally {
    secret.fill(0)
  }
}
