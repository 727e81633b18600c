import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { gather } from '../../test/gather.ts'
import { readEvents, type ServerSentEvent } from './server-sent-events.ts'

/** Reads a text that arrives in pieces of these sizes. */
function read(text: string, sizes: readonly number[] = [Infinity]): Promise<ServerSentEvent[]> {
  let rest = Buffer.from(text)
  let turn = 0
  const next = (): Promise<Uint8Array | undefined> => {
    if (rest.length === 0) return Promise.resolve(undefined)
    const size = sizes[turn++ % sizes.length]!
    const piece = rest.subarray(0, size)
    rest = rest.subarray(piece.length)
    return Promise.resolve(piece)
  }
  return gather(readEvents({ response: new Response(), next, cancel: () => {} }))
}

describe('an event stream', () => {
  it('fields, several lines of data, comments and unknown fields', async () => {
    const text = ': hello\n\nid: 1\nevent: change\ndata: a\ndata:b\nretry: 5\n\ndata\n\n'
    expect(await read(text)).toEqual([
      { id: '1', event: 'change', data: 'a\nb' },
      { id: '1', event: 'message', data: '' },
    ])
  })

  it('an id alone is told', async () => {
    expect(await read('id: 7\n\n')).toEqual([{ id: '7', event: 'message', data: '' }])
  })

  it('what is not finished by an empty line never was', async () => {
    expect(await read('data: a\n\ndata: b\n')).toHaveLength(1)
  })

  it('line ends of all kinds and a byte-order mark', async () => {
    const events = await read('\ufeffdata: a\r\n\r\ndata: b\r\rdata: c\n\n')
    expect(events.map(({ data }) => data)).toEqual(['a', 'b', 'c'])
  })

  it('however it is cut on its way, the events are the same', async () => {
    const text = 'id: 1\r\ndata: äöü\r\n\r\nevent: change\rdata: {"a":1}\r\rdata: €\n\n'
    const whole = await read(text)
    const sizes = fc.array(fc.integer({ min: 1, max: 7 }), { minLength: 1 })
    await fc.assert(
      fc.asyncProperty(sizes, async (parts) => {
        expect(await read(text, parts)).toEqual(whole)
      }),
    )
  })
})
