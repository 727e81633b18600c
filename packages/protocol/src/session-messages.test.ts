import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isCairnError } from './errors.ts'
import type { Hash, Ino } from './ids.ts'
import {
  decodeReply,
  decodeRequest,
  encodeReply,
  encodeRequest,
  type SessionReply,
  type SessionRequest,
} from './session-messages.ts'

const requests: readonly SessionRequest[] = [
  {
    type: 'hello',
    version: 1,
    workspace: 'w',
    branch: 'main',
    mode: 'write',
    session: '',
    seq: 7,
    path: '/repo',
  },
  { type: 'submit', number: 3, epoch: 2, body: Uint8Array.of(1, 2, 3) },
  { type: 'directory', id: 9, ino: 1 as Ino, after: 'a\xff', limit: 100 },
  { type: 'content', id: 10, ino: 5 as Ino, offset: 2 ** 40, length: 4096 },
  { type: 'released', epoch: 3 },
  { type: 'subtree', id: 11, ino: 1 as Ino, limit: 20_000 },
  { type: 'seen', seq: 12 },
  { type: 'barrier', id: 12, seq: 13 },
  { type: 'changes', id: 13, seq: 14 },
  { type: 'look', id: 14, inos: [1 as Ino, 300 as Ino] },
  { type: 'claim', id: 15, inos: [] },
  {
    type: 'piece',
    message: '\x01'.repeat(32) as Hash,
    total: 9,
    offset: 3,
    bytes: Uint8Array.of(1, 2),
  },
  { type: 'trace', ino: 1 as Ino, bytes: Uint8Array.of(0) },
  { type: 'ahead', id: 16, ino: 1 as Ino, from: 3, bytes: 4096 },
]

const replies: readonly SessionReply[] = [
  { type: 'welcome', version: 1, session: 's', seq: 1, epoch: 1, leaseMs: 10_000, root: 5 as Ino },
  { type: 'receipt', number: 3, seq: 4, hash: '\x01'.repeat(32) as Hash, shown: 1 },
  { type: 'refused', number: 3, code: 'EEXIST', what: '', reason: 'there', hint: '', subject: '' },
  { type: 'recall', epoch: 3 },
  { type: 'own', number: 3, seq: 4 },
  { type: 'yield', id: 1, inos: [7 as Ino] },
]

describe('session messages', () => {
  it.each(requests)('request $type arrives as it was sent', (request) => {
    expect(decodeRequest(encodeRequest(request))).toEqual(request)
  })

  it.each(replies)('reply $type arrives as it was sent', (reply) => {
    expect(decodeReply(encodeReply(reply))).toEqual(reply)
  })

  it('any other bytes are refused with a typed error', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
        for (const decode of [decodeRequest, decodeReply])
          try {
            decode(bytes)
          } catch (error) {
            expect(isCairnError(error)).toBe(true)
          }
      }),
      { numRuns: 2000 },
    )
  })

  it('cut off or with a bit turned, a message is refused or is another one', () => {
    for (const request of requests) {
      const bytes = encodeRequest(request)
      for (let length = 0; length < bytes.length; length++)
        expect(() => decodeRequest(bytes.subarray(0, length))).toThrow(/cannot read/)
    }
  })
})
