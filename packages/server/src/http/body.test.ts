import { PassThrough, Readable } from 'node:stream'
import { setImmediate } from 'node:timers/promises'
import { describe, expect, it } from 'vitest'
import { codeOf } from '@cairn/core/conformance'
import { paced } from './body.ts'

async function read(body: AsyncIterable<Uint8Array>): Promise<string> {
  const chunks: Uint8Array[] = []
  for await (const chunk of body) chunks.push(chunk)
  return Buffer.concat(chunks).toString()
}

const patient = { bytesMin: 4, patienceMs: 60_000 }
const impatient = { bytesMin: 4, patienceMs: 20 }

describe('a paced body', () => {
  it('comes as it was sent', async () => {
    expect(await read(paced(Readable.from([Buffer.from('ab'), Buffer.from('c')]), patient))).toBe(
      'abc',
    )
    expect(await read(paced(Readable.from([]), patient))).toBe('')
  })

  it('one that stops is too_slow, at its beginning and in its middle', async () => {
    expect(await codeOf(read(paced(new PassThrough(), impatient)))).toBe('too_slow')
    const begun = new PassThrough()
    begun.write('abc')
    expect(await codeOf(read(paced(begun, impatient)))).toBe('too_slow')
  })

  it('bytes that only trickle do not win time', async () => {
    const trickle = new PassThrough()
    const timer = setInterval(() => trickle.write('x'), 5)
    try {
      expect(await codeOf(read(paced(trickle, { bytesMin: 1000, patienceMs: 50 })))).toBe(
        'too_slow',
      )
    } finally {
      clearInterval(timer)
    }
  })

  it('the time its reader takes is not the sender’s', async () => {
    const parts = ['abcd', 'efgh', 'ijkl'].map((part) => Buffer.from(part))
    let text = ''
    for await (const chunk of paced(Readable.from(parts), impatient)) {
      text += Buffer.from(chunk).toString()
      const begin = performance.now()
      while (performance.now() - begin < 30) await setImmediate()
    }
    expect(text).toBe('abcdefghijkl')
  })

  it('one that was cut off is malformed, and leaving one unread does not destroy it', async () => {
    const cut = new PassThrough()
    const reading = read(paced(cut, patient))
    cut.destroy(Object.assign(new Error('aborted'), { code: 'ECONNRESET' }))
    expect(await codeOf(reading)).toBe('malformed')
    const left = new PassThrough()
    left.write('abc')
    for await (const chunk of paced(left, patient)) if (chunk.length > 0) break
    expect(left.destroyed).toBe(false)
  })
})
