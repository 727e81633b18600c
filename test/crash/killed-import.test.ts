// A large import is staged in a layer. A server that is killed meanwhile leaves it; the collector deletes it.
import { gzipSync } from 'node:zlib'
import { Collector, withStorage } from '@cairn/server'
import { tarOf } from '@cairn/server/testing'
import { expect, it } from 'vitest'
import type { CrashServer } from './crash-server.ts'
import { useCrashServer } from './use-crash-server.ts'

const day = 24 * 60 * 60 * 1000
const { start, directory } = useCrashServer()

const openLayers = async (server: CrashServer): Promise<number> => {
  const answer = await server.ask('GET', '/w/layers?state=open')
  return ((await answer.json()) as { items: unknown[] }).items.length
}

const collect = (days: number) =>
  withStorage({ data: directory() }, (storage) =>
    new Collector(storage, {
      graceMs: day,
      retentionMs: 7 * day,
      nowMs: () => Date.now() + days * day,
    }).run({ dryRun: false }),
  )

it('a server killed while it stages an import: its layer is gone a day later, with its branch after a week', async () => {
  const server = await start()
  await server.ask('POST', '', '{"name":"w"}')
  const entries = Array.from({ length: 40_000 }, (_, at) => ({ path: `d/f${at}` }))
  const body = new Uint8Array(gzipSync(tarOf(entries), { level: 1 }))
  const imported = server.ask('POST', '/w/files/in?import', body).catch(() => 'cut')
  await expect.poll(() => openLayers(server), { timeout: 60_000, interval: 5 }).toBe(1)
  await server.stop()
  expect(await imported).toBe('cut')

  await collect(0)
  const again = await start()
  expect(await openLayers(again)).toBe(1)
  expect((await again.ask('GET', '/w/files/in?stat')).status).toBe(404)
  await again.stop()

  await collect(2)
  expect(await collect(10)).toMatchObject({ branches: 1 })
  expect(await openLayers(await start())).toBe(0)
}, 120_000)
