import { expect, it } from 'vitest'
import { gatherChunks } from './gather-chunks.ts'

async function gathered(sizes: readonly number[]): Promise<readonly Uint8Array[]> {
  let next = 0
  const chunks: Uint8Array[] = []
  async function* source(): AsyncGenerator<Uint8Array> {
    for (const size of sizes) yield Uint8Array.from({ length: size }, () => next++ & 0xff)
  }
  for await (const chunk of gatherChunks(source())) chunks.push(chunk)
  return chunks
}

it.each([
  [[]],
  [[0]],
  [[1, 512, 0, 511]],
  [[256 << 10]],
  [[1, 256 << 10]],
  [[700_000, 3, 300_000]],
])('chunks of %j bytes come out as the same bytes, in chunks of 256 KiB', async (sizes) => {
  const chunks = await gathered(sizes)
  const total = sizes.reduce((sum: number, size) => sum + size, 0)
  const all = Buffer.concat(chunks)
  expect(all).toHaveLength(total)
  expect(all.every((byte, at) => byte === (at & 0xff))).toBe(true)
  expect(chunks.slice(0, -1).every(({ length }) => length === 256 << 10)).toBe(true)
  expect(chunks).toHaveLength(Math.ceil(total / (256 << 10)))
})
