import type { CheckpointInfo, Page } from '@cairn/protocol'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { LayerFixture, ok } from '../../test/layer-fixture.ts'
import type { Clock } from '../ports/clock.ts'
import { thin } from './auto-checkpoints.ts'

/** Time passes when it is told to. */
class VirtualClock implements Clock {
  #nowMs = Date.UTC(2031, 0, 1)
  #nsec = 0
  #asleep: { readonly untilMs: number; readonly wake: () => void }[] = []

  nowMs = (): number => this.#nowMs
  sleep = (ms: number): Promise<void> =>
    new Promise((wake) => this.#asleep.push({ untilMs: this.#nowMs + ms, wake }))
  now = (): { sec: number; nsec: number } => ({
    sec: Math.floor(this.#nowMs / 1000),
    nsec: ++this.#nsec,
  })

  /** All that follows from it has happened afterwards, as far as it needs no more time. */
  async pass(ms: number): Promise<void> {
    this.#nowMs += ms
    const due = this.#asleep.filter(({ untilMs }) => untilMs <= this.#nowMs)
    this.#asleep = this.#asleep.filter((sleeper) => !due.includes(sleeper))
    for (const { wake } of due) wake()
    for (let turn = 0; turn < 50; turn++) await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('checkpoints that are made by themselves', () => {
  let clock: VirtualClock
  let fixture: LayerFixture
  const list = async (): Promise<readonly CheckpointInfo[]> =>
    (await ok(fixture.server.call<Page<CheckpointInfo>>('GET', '/w/layers/a/checkpoints'))).items
  const seconds = (count: number): Promise<void> => clock.pass(count * 1000)

  beforeEach(async () => {
    clock = new VirtualClock()
    fixture = new LayerFixture(clock)
    await fixture.fill()
    await fixture.create({ name: 'a', autoCheckpointMs: 30_000 })
  })

  it('checkpoints that are made by themselves are made after a quiet time, and not during changes', async () => {
    await ok(fixture.write('/repo/a.txt', 'two\n', 'a'))
    for (let second = 0; second < 60; second += 20) {
      await seconds(20)
      await ok(fixture.write('/repo/a.txt', `${second}\n`, 'a'))
    }
    expect(await list()).toEqual([])
    await seconds(30)
    const [made, ...more] = await list()
    expect(more).toEqual([])
    expect(made).toMatchObject({ label: '', automatic: true })
    await seconds(300)
    expect(await list()).toHaveLength(1)

    await ok(fixture.write('/repo/a.txt', 'spoilt\n', 'a'))
    await ok(fixture.post('/a/rollback', { to: made!.id }))
    expect(await fixture.read('/repo/a.txt', 'layer=a')).toBe('40\n')
  })

  it('two servers make one', async () => {
    await ok(fixture.other.call('GET', '/w/files/repo/a.txt?layer=a'))
    await ok(fixture.write('/repo/a.txt', 'two\n', 'a'))
    await ok(fixture.other.call('GET', '/w/files/repo/a.txt?layer=a'))
    await seconds(60)
    await seconds(60)
    expect((await list()).filter(({ automatic }) => automatic)).toHaveLength(1)
  })

  it('no checkpoint is made of a layer without that setting, nor after it was removed', async () => {
    await fixture.create({ name: 'b' })
    await ok(fixture.write('/repo/a.txt', 'two\n', 'b'))
    await ok(fixture.server.call('PATCH', '/w/layers/a', { autoCheckpointMs: null }))
    await ok(fixture.write('/repo/a.txt', 'two\n', 'a'))
    await seconds(120)
    expect(await list()).toEqual([])
    const other = await ok(
      fixture.server.call<Page<CheckpointInfo>>('GET', '/w/layers/b/checkpoints'),
    )
    expect(other.items).toEqual([])
  })

  it('checkpoints that are made by themselves are thinned out with age; what has a label or is of a tool call stays', async () => {
    await ok(fixture.post('/a/checkpoints', { label: 'mine' }))
    await ok(fixture.post('/a/checkpoints', { toolCall: 'call_1' }))
    for (let minute = 0; minute < 120; minute += 2) {
      await ok(fixture.write('/repo/a.txt', `${minute}\n`, 'a'))
      await seconds(120)
    }
    await vi.waitFor(async () => {
      const all = await list()
      // Thirty of the last hour, six of the one before it, and one that is not yet in the past.
      expect(all.filter(({ automatic }) => automatic).length).toBeLessThanOrEqual(37)
      expect(all.filter(({ automatic }) => !automatic)).toHaveLength(2)
    })
  })
})

describe('thinning', () => {
  const nowMs = Date.UTC(2031, 0, 10)
  const made = (id: string, agoMs: number): { id: never; time: { sec: number; nsec: number } } => ({
    id: id as never,
    time: { sec: (nowMs - agoMs) / 1000, nsec: 0 },
  })
  const minuteMs = 60_000

  it('keeps the last hour, the newest of ten minutes in a day, the newest of a day before', () => {
    const hour = [0, 1, 59].map((ago) => made(`h${ago}`, ago * minuteMs))
    const day = [61, 65, 69, 71].map((ago) => made(`d${ago}`, ago * minuteMs))
    const older = [25, 30, 47, 49].map((ago) => made(`o${ago}`, ago * 60 * minuteMs))
    expect([...thin([...older, ...day, ...hour], nowMs)].sort()).toEqual([
      'd65',
      'd69',
      'o30',
      'o47',
    ])
  })
})
