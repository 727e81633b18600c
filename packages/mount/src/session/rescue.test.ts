import { CairnError, type ErrorCode } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { type Rescuer, rescueAll } from './rescue.ts'

const late = [2, 1].map((number) => ({
  number,
  body: Uint8Array.of(number),
  leaseEpoch: 7,
  settled: Promise.withResolvers<{ seq: number }>(),
}))

/** A server that fails as often as it is told to, and the questions it was asked. */
function failing(...codes: readonly (ErrorCode | 'answers')[]): {
  readonly rescuer: Rescuer
  readonly asked: string[]
} {
  const asked: string[] = []
  const left = [...codes]
  const ask: Rescuer['ask'] = async ({ number, epoch }) => {
    asked.push(`${number} of ${epoch}`)
    const code = left.shift() ?? 'answers'
    if (code !== 'answers') throw new CairnError(code, { what: 'take it', reason: 'it is so' })
    return new TextEncoder().encode(number === 0 ? 'committed layer' : 'kept layer')
  }
  const pause = async (): Promise<void> => void asked.push('pause')
  return { rescuer: { ask, pause }, asked }
}

describe('rescue', () => {
  it('in order of the numbers, and the end last', async () => {
    const { rescuer, asked } = failing()
    expect(await rescueAll(rescuer, 7, late)).toEqual({ result: 'committed', layer: 'layer' })
    expect(asked).toEqual(['1 of 7', '2 of 7', '0 of 7'])
  })

  it('a question that failed is asked again, and none behind it before', async () => {
    const failures = ['storage_unavailable', 'answers', 'answers', 'storage_unavailable'] as const
    const { rescuer, asked } = failing(...failures)
    expect(await rescueAll(rescuer, 7, late)).toEqual({ result: 'committed', layer: 'layer' })
    expect(asked).toEqual(['1 of 7', 'pause', '1 of 7', '2 of 7', '0 of 7', 'pause', '0 of 7'])
  })

  it('what will never be taken ends it', async () => {
    const { rescuer, asked } = failing('answers', 'malformed')
    await expect(rescueAll(rescuer, 7, late)).rejects.toMatchObject({ code: 'malformed' })
    expect(asked).toEqual(['1 of 7', '2 of 7'])
  })
})
