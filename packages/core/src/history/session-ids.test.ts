import type { SessionId } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { originOf } from './session-ids.ts'

it('the tool call of a batch is its field, or in older logs what follows a blank in the session', () => {
  const of = (session: string, toolCall?: string): object =>
    originOf({ session: session as SessionId, toolCall })
  expect(of('http-1')).toEqual({ session: 'http-1' })
  expect(of('http-1', 'call-7')).toEqual({ session: 'http-1', toolCall: 'call-7' })
  expect(of('http-1 call-7')).toEqual({ session: 'http-1', toolCall: 'call-7' })
})
