import { type Hash, isCairnError, messageBytesMax } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { sha256 } from '../ports/content-worker.ts'
import { MessagePieces } from './message-pieces.ts'

const bytes = Uint8Array.from({ length: 100 }, (_, i) => i)
const message = sha256(bytes)
const s = { owner: 'o', session: 's' }

describe('messages that arrive in pieces', () => {
  let pieces: MessagePieces

  beforeEach(() => {
    pieces = new MessagePieces()
  })

  function pieceOf(start: number, end: number): Parameters<MessagePieces['take']>[1] {
    const part = bytes.subarray(start, end)
    return { type: 'piece', message, total: bytes.length, offset: start, bytes: part }
  }

  function take(session: string, start: number, end: number): ReturnType<MessagePieces['take']> {
    return pieces.take({ owner: 'o', session }, pieceOf(start, end))
  }

  it('all of it is there after the last one, however they overlap', () => {
    expect(take('s', 0, 0)).toEqual({ bytes: 0 })
    expect(take('s', 0, 40)).toEqual({ bytes: 40 })
    expect(take('s', 20, 60)).toEqual({ bytes: 60 })
    expect(take('s', 0, 10)).toEqual({ bytes: 60 })
    expect(take('s', 60, 100)).toEqual({ bytes: 100, whole: bytes })
  })

  it('one that leaves a gap is not taken', () => {
    take('s', 0, 40)
    expect(take('s', 50, 100)).toEqual({ bytes: 40 })
  })

  it('a complete one is given again to a client that asks, and not with a late copy of a piece', () => {
    take('s', 0, 100)
    expect(take('s', 60, 100)).toEqual({ bytes: 100 })
    expect(take('s', 0, 0)).toEqual({ bytes: 100, whole: bytes })
  })

  it('each session has its own', () => {
    take('s', 0, 40)
    expect(take('t', 40, 100)).toEqual({ bytes: 0 })
  })

  it('another message takes the place of the one before', () => {
    take('s', 0, 40)
    const other = '\x01'.repeat(32) as Hash
    pieces.take(s, {
      type: 'piece',
      message: other,
      total: 9,
      offset: 0,
      bytes: new Uint8Array(),
    })
    expect(take('s', 0, 0)).toEqual({ bytes: 0 })
  })

  it('32 MiB are kept; what was added to longest ago goes first', () => {
    take('oldest', 0, 40)
    const large = new Uint8Array(messageBytesMax - 1)
    for (let i = 0; i < 7; i++) {
      const piece = { message, total: messageBytesMax, offset: 0, bytes: large } as const
      pieces.take({ owner: 'o', session: `s${i}` }, { type: 'piece', ...piece })
    }
    expect(take('oldest', 0, 0)).toEqual({ bytes: 0 })
    const asked = { message, total: messageBytesMax, offset: 0, bytes: new Uint8Array() }
    expect(pieces.take({ owner: 'o', session: 's0' }, { type: 'piece', ...asked })).toEqual({
      bytes: 0,
    })
    expect(pieces.take({ owner: 'o', session: 's6' }, { type: 'piece', ...asked })).toEqual({
      bytes: large.length,
    })
  })

  it('an owner who sends much leaves those of others as they are', () => {
    pieces.take({ owner: 'other', session: 's' }, pieceOf(0, 40))
    const large = new Uint8Array(messageBytesMax - 1)
    for (let i = 0; i < 20; i++) {
      const piece = { message, total: messageBytesMax, offset: 0, bytes: large } as const
      pieces.take({ owner: 'o', session: `s${i}` }, { type: 'piece', ...piece })
    }
    expect(pieces.take({ owner: 'other', session: 's' }, pieceOf(0, 0))).toEqual({ bytes: 40 })
  })

  it('one under the same id of a session, but of another owner, is another one', () => {
    take('s', 0, 100)
    expect(pieces.take({ owner: 'other', session: 's' }, pieceOf(0, 0))).toEqual({ bytes: 0 })
    pieces.take({ owner: 'other', session: 's' }, { ...pieceOf(0, 1), total: 99 })
    expect(take('s', 0, 0)).toEqual({ bytes: 100, whole: bytes })
  })

  it('one in pieces of a byte takes no more memory than its bytes', () => {
    const total = 1 << 20
    const zeros = new Uint8Array(total)
    const before = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    for (let offset = 0; offset < 200_000; offset++)
      pieces.take(s, { type: 'piece', message, total, offset, bytes: zeros.subarray(0, 1) })
    const after = process.memoryUsage().arrayBuffers + process.memoryUsage().heapUsed
    expect(after - before).toBeLessThan(64 << 20)
  })

  it('a complete one is given again to some connections, and not without an end', () => {
    take('s', 0, 100)
    let given = 0
    for (let i = 0; i < 1000; i++) if (take('s', 0, 0).whole) given++
    expect(given).toBe(16)
  })

  it.each([
    ['is larger than a message may be', { total: messageBytesMax + 1 }],
    ['goes beyond its end', { total: 99 }],
    ['has another hash', { message: '\x01'.repeat(32) as Hash }],
  ])('one that %s is malformed', (_, change) => {
    const piece = { type: 'piece', message, total: 100, offset: 0, bytes, ...change } as const
    let thrown: unknown
    try {
      pieces.take(s, piece)
    } catch (error) {
      thrown = error
    }
    expect(isCairnError(thrown, 'malformed')).toBe(true)
    expect(take('s', 0, 0)).toEqual({ bytes: 0 })
  })
})
