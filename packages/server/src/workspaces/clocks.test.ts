// Servers whose clocks are an hour apart.
import type { LogEntry, Page } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { ok } from '../../test/layer-fixture.ts'
import { memoryServers } from '../testing/memory-servers.ts'
import { type Clock, systemClock, timeOf, nanoseconds } from '../ports/clock.ts'

const hourMs = 3_600_000

function ahead(ms: number): Clock {
  const clock = systemClock()
  const now: Clock['now'] = () => timeOf(nanoseconds(clock.now()) + BigInt(ms) * 1_000_000n)
  return { ...clock, nowMs: () => clock.nowMs() + ms, now }
}

it('what the one behind writes after the one ahead has later times, and a tag of its own', async () => {
  const servers = memoryServers()
  const [first, second] = [servers.open(ahead(hourMs)), servers.open()]
  await first.call('POST', '', { name: 'w' })
  const seen: { readonly etag: string; readonly ctimeNs: bigint }[] = []
  for (const [index, server] of [first, second, second, first].entries()) {
    await ok(server.call('PUT', '/w/files/f', `text ${index}`))
    const { json } = await server.call<{ etag: string; ctimeNs: string }>('GET', '/w/files/f?stat')
    seen.push({ etag: json.etag, ctimeNs: BigInt(json.ctimeNs) })
  }
  expect(new Set(seen.map(({ etag }) => etag)).size).toBe(4)
  const ctimes = seen.map(({ ctimeNs }) => ctimeNs)
  expect(ctimes).toEqual(ctimes.toSorted((a, b) => (a < b ? -1 : 1)))
  const { items } = await ok(second.call<Page<LogEntry>>('GET', '/w/log'))
  const times = items.toSorted((a, b) => a.seq - b.seq).map(({ time }) => time)
  expect(times).toEqual(times.toSorted())
})
