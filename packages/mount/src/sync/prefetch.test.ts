import { rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { prefetch } from './prefetch.ts'

/** A server that answers so many bytes as it is asked for, each after that time. */
async function asked(
  end: number,
  { bytesMax = Infinity, answerMs = 1 }: { bytesMax?: number; answerMs?: number },
): Promise<readonly number[]> {
  const sizes: number[] = []
  let now = 0
  await prefetch(rootIno, {
    loader: {
      whenAtRest: async () => undefined,
      loadAhead: async (_root, from, bytes) => {
        sizes.push(bytes)
        now += answerMs
        return { next: from + 1 < end ? from + 1 : 0, size: bytes }
      },
    },
    contents: { whenAtRest: async () => undefined },
    nowMs: () => now,
    bytesMax,
  })
  return sizes.map((size) => size / 1024)
}

describe('prefetching', () => {
  it('goes on to the end, in answers that grow to 1 MiB where they come fast', async () => {
    expect(await asked(6, {})).toEqual([128, 256, 512, 1024, 1024, 1024])
  })

  it('asks for less where a program would wait for an answer', async () => {
    expect(await asked(5, { answerMs: 100 })).toEqual([128, 64, 32, 32, 32])
  })

  it('ends when it has taken as many bytes as it may', async () => {
    expect(await asked(1000, { bytesMax: 1 << 20 })).toEqual([128, 256, 512, 1024])
  })
})
