import { createHash, randomBytes } from 'node:crypto'
import { deflateRawSync, gzipSync } from 'node:zlib'
import { describe, expect, it } from 'vitest'
import { looksRandom } from './looks-random.ts'

/** The same in every run. */
function stream(length: number): Buffer {
  const parts: Buffer[] = []
  for (let i = 0; i * 32 < length; i++) parts.push(createHash('sha256').update(`${i}`).digest())
  return Buffer.concat(parts).subarray(0, length)
}

const words = stream(200_000)
const text = Buffer.from(Array.from(words, (byte) => `word${byte} `).join(''))

describe('bytes that look random', () => {
  it.each([
    ['encrypted', stream(256 << 10)],
    ['encrypted, of the least length', stream(4096)],
    ['deflated', deflateRawSync(text).subarray(0, 256 << 10)],
    ['zipped', gzipSync(text)],
    ['random', randomBytes(256 << 10)],
  ])('%s', (_, bytes) => expect(looksRandom(bytes)).toBe(true))

  it.each([
    ['text', text.subarray(0, 256 << 10)],
    ['base64', Buffer.from(stream(100_000).toString('base64'))],
    ['hex', Buffer.from(stream(100_000).toString('hex'))],
    ['zeros', Buffer.alloc(256 << 10)],
    ['numbers', Buffer.from(Float32Array.from(words, (byte) => Math.sqrt(byte)).buffer)],
    ['random with a fifth of zeros', Buffer.concat([stream(80_000), Buffer.alloc(20_000)])],
    ['too short to tell', stream(4095)],
  ])('not %s', (_, bytes) => expect(looksRandom(bytes)).toBe(false))
})
