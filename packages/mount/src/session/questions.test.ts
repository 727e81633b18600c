import type { SessionRequest } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { Pace } from './pace.ts'
import { Questions } from './questions.ts'

it('after a break, content that was held back does not go before content that was sent', () => {
  const pace = new Pace()
  // A break on which nothing got through: from now on one goes at a time.
  for (let i = 0; i < 8; i++) {
    pace.send(1)
    pace.noteBroken()
  }
  const sent: SessionRequest[] = []
  const wire = {
    send: (request: SessionRequest) => void sent.push(request),
    close: () => undefined,
    ping: async () => undefined,
  }
  const questions = new Questions(pace, () => wire)
  const bytes = new Uint8Array(256 << 10)
  for (let i = 0; i < 3; i++) void questions.ask({ type: 'blob', bytes })
  for (let i = 0; i < 3; i++) {
    questions.noteBroken()
    pace.noteBroken()
    questions.sendAll()
  }
  expect(sent.map((request) => 'id' in request && request.id)).toEqual([1, 1, 1, 1])
})
