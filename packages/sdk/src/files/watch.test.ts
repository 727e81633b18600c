import type { ChangeEvent } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { failureOf, openCairn } from '../../test/open-cairn.ts'
import { type Answer, error } from '../../test/stub-server.ts'

function change(seq: number): string {
  const event: ChangeEvent = { seq, time: '2031-05-01T00:00:00Z', actor: 'key-1', operations: [] }
  return `id: ${seq}\nevent: change\ndata: ${JSON.stringify(event)}\n\n`
}

function stream(text: string, then: 'end' | 'cut' | 'stay'): Answer {
  return (response) => {
    response.writeHead(200, { 'content-type': 'text/event-stream' })
    response.write(text, () => {
      if (then === 'end') response.end()
      if (then === 'cut') response.destroy()
    })
  }
}

async function take(events: AsyncIterable<ChangeEvent>, count: number): Promise<number[]> {
  const seqs: number[] = []
  for await (const { seq } of events) if (seqs.push(seq) >= count) break
  return seqs
}

const cursorOf = (url: string): string | null => new URL(url, 'http://h').searchParams.get('after')

describe('watch', () => {
  it.each(['end', 'cut'] as const)(
    'after the %s of a connection it goes on from the last event, giving none twice',
    async (how) => {
      const { workspace, seen } = await openCairn([
        stream(change(5) + change(6), how),
        stream(change(6) + change(7), 'stay'),
      ])
      expect(await take(workspace.files.watch('/src', { after: 4 }), 3)).toEqual([5, 6, 7])
      expect(seen.map(({ url }) => cursorOf(url))).toEqual(['4', '6'])
      expect(seen[0]?.url).toContain('/events?path=%2Fsrc')
      expect(seen[0]?.headers.accept).toBe('text/event-stream')
    },
  )

  it('half an event at a cut is no event', async () => {
    const { workspace, seen } = await openCairn([
      stream(change(5) + change(6).slice(0, -1), 'cut'),
      stream(change(6), 'stay'),
    ])
    expect(await take(workspace.files.watch('/', { after: 4 }), 2)).toEqual([5, 6])
    expect(cursorOf(seen[1]!.url)).toBe('5')
  })

  it('a server that tells where it stands is asked from there, though nothing has happened', async () => {
    const { workspace, seen } = await openCairn([
      stream(': hello\n\nid: 41\n\n', 'cut'),
      stream(change(42), 'stay'),
    ])
    expect(await take(workspace.files.watch('/'), 1)).toEqual([42])
    expect(seen.map(({ url }) => cursorOf(url))).toEqual([null, '41'])
  })

  it('a connection on which nothing is heard is made anew', async () => {
    const { workspace, arrived, clock } = await openCairn([
      stream(change(5), 'stay'),
      stream(change(6), 'stay'),
    ])
    const events = workspace.files.watch('/', { after: 4 })[Symbol.asyncIterator]()
    expect(await events.next()).toMatchObject({ value: { seq: 5 } })
    const next = events.next()
    await clock.expire()
    await arrived(2)
    expect(await next).toMatchObject({ value: { seq: 6 } })
    await events.return?.()
  })

  it('a server that is away is waited for, however long', async () => {
    const away = error('storage_unavailable', 503)
    const { workspace } = await openCairn([
      stream(change(5), 'cut'),
      ...Array.from({ length: 30 }, () => away),
      stream(change(6), 'stay'),
    ])
    expect(await take(workspace.files.watch('/', { after: 4 }), 2)).toEqual([5, 6])
  })

  it('a server that was never there is told', async () => {
    const { workspace } = await openCairn(error('storage_unavailable', 503))
    expect((await failureOf(take(workspace.files.watch('/'), 1))).code).toBe('storage_unavailable')
  })

  it('a key that is no longer good ends it', async () => {
    const { workspace } = await openCairn([stream(change(5), 'cut'), error('unauthenticated', 401)])
    expect((await failureOf(take(workspace.files.watch('/'), 2))).code).toBe('unauthenticated')
  })

  it('abort ends it with the reason, leaving the loop without one; both close the connection', async () => {
    const closes: Promise<void>[] = []
    const { workspace } = await openCairn((response) => {
      const closed = Promise.withResolvers<void>()
      response.on('close', closed.resolve)
      closes.push(closed.promise)
      stream(change(5), 'stay')(response, { method: '', url: '', headers: {}, body: Buffer.of() })
    })
    const ending = new AbortController()
    const watching = (async () => {
      for await (const { seq } of workspace.files.watch('/', { signal: ending.signal }))
        if (seq === 5) ending.abort(new Error('enough'))
    })()
    await expect(watching).rejects.toThrow('enough')
    expect(await take(workspace.files.watch('/'), 1)).toEqual([5])
    await Promise.all(closes)
    expect(closes).toHaveLength(2)
  })
})
