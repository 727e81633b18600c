import { randomBytes } from 'node:crypto'
import { decodeRequest, type SessionReply, type SessionRequest } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { bytesMin, Pace } from './pace.ts'
import { inPieces } from './pieces.ts'
import type { Wire, WireEvents } from './wire.ts'

type Piece = Extract<SessionRequest, { type: 'piece' }>

describe('a message that is larger than a connection lately carried', () => {
  const submit = { type: 'submit', number: 1, epoch: 1, body: randomBytes(10 * bytesMin) } as const
  let pace: Pace
  let wire: Wire
  let events: WireEvents
  let sent: SessionRequest[]
  let heard: SessionReply[]

  beforeEach(async () => {
    pace = new Pace()
    heard = []
    await connect()
    // Breaks on which nothing got through.
    for (let i = 0; i < 8; i++) {
      pace.send(1)
      pace.noteBroken()
    }
    expect(pace.messageBytes).toBe(bytesMin)
  })

  async function connect(): Promise<void> {
    sent = []
    const through = inPieces(async (given) => {
      events = given
      const send = (request: SessionRequest): void => void sent.push(request)
      return { send, close: () => undefined, ping: async () => undefined }
    }, pace)
    wire = await through({ onReply: (reply) => heard.push(reply), onClose: () => undefined })
  }

  function arrived(bytes: number): void {
    const { message } = sent[0] as Piece
    events.onReply({ type: 'arrived', message, bytes })
  }

  const offsets = (): number[] => sent.map((piece) => (piece as Piece).offset)

  it('one that is not larger goes as it is', () => {
    const small = { ...submit, body: submit.body.subarray(0, bytesMin) }
    wire.send(small)
    expect(sent).toEqual([small])
  })

  it('a message that is larger than a connection lately carried is asked for first, and then goes on where the server is', () => {
    wire.send(submit)
    expect(sent).toMatchObject([{ type: 'piece', offset: 0, bytes: new Uint8Array() }])
    arrived(3 * bytesMin)
    expect(offsets()).toEqual([0, 3 * bytesMin])
  })

  it('goes the faster the more arrives, and is the message in the end', () => {
    wire.send(submit)
    const total = (sent[0] as Piece).total
    for (let at = 0; at < total; at = Math.min(total, at + bytesMin)) arrived(at)
    arrived(total)
    const whole = Buffer.concat(sent.map((piece) => (piece as Piece).bytes))
    expect(decodeRequest(whole)).toMatchObject({ ...submit, body: expect.anything() })
    expect(heard).toEqual([])
  })

  it('begins again where the server has dropped it', () => {
    wire.send(submit)
    arrived(3 * bytesMin)
    arrived(0)
    arrived(0)
    expect(offsets()).toEqual([0, 3 * bytesMin, 0])
  })

  it('what arrived of it counts as carried when the connection breaks', () => {
    pace.send(submit.body.length)
    wire.send(submit)
    for (let i = 0; i <= 4; i++) arrived(i * bytesMin)
    expect(pace.messageBytes).toBe(bytesMin)
    pace.noteBroken()
    expect(pace.messageBytes).toBe(4 * bytesMin)
  })
})
