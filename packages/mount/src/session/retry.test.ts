import { CairnError, type ErrorCode } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { untilAnswered } from './retry.ts'

function failsOnceWith(code: ErrorCode): () => Promise<string> {
  let asked = 0
  return async () => {
    if (asked++ === 0) throw new CairnError(code, { what: 'answer', reason: 'it is so' })
    return 'answered'
  }
}

it.each(['storage_unavailable', 'internal'] as const)('%s: asked again', async (code) => {
  expect(await untilAnswered(failsOnceWith(code), async () => {})).toBe('answered')
})

it.each(['forbidden', 'malformed'] as const)('%s: is the last word', async (code) => {
  const asking = untilAnswered(failsOnceWith(code), async () => {})
  await expect(asking).rejects.toMatchObject({ code })
})
