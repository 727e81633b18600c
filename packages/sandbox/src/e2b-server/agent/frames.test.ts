import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { FrameReader, writeFrame } from './frames.ts'

describe('frames of an agent', () => {
  it.each([1, 3, 5, 1000])(
    'come whole, whatever the pipe makes of them: %i bytes a piece',
    async (size) => {
      const whole = new PassThrough()
      for (const text of ['first', '', 'x'.repeat(3000)]) await writeFrame(whole, Buffer.from(text))
      const bytes = whole.read() as Buffer
      const pieces = new PassThrough()
      const reader = new FrameReader(pieces)
      const read = (async () => {
        const texts: (string | undefined)[] = []
        while (texts.length < 3) texts.push((await reader.next())?.toString())
        return texts
      })()
      for (let at = 0; at < bytes.length; at += size) {
        pieces.write(bytes.subarray(at, at + size))
        await new Promise((resolve) => setImmediate(resolve))
      }
      await expect(read).resolves.toEqual(['first', '', 'x'.repeat(3000)])
    },
  )

  it('frames end with the pipe, also in the middle of one', async () => {
    const pipe = new PassThrough()
    const reader = new FrameReader(pipe)
    pipe.end(Buffer.from([0, 0, 0, 9, 1, 2]))
    await expect(reader.next()).resolves.toBeUndefined()
  })

  it('frames that claim to be too large are refused at once', async () => {
    const pipe = new PassThrough()
    const reader = new FrameReader(pipe)
    pipe.write(Buffer.from([0xff, 0xff, 0xff, 0xff]))
    await expect(reader.next()).resolves.toBeUndefined()
  })
})
