import { describe, expect, it } from 'vitest'
import { checkClock } from './clock-skew.ts'
import { EndableObjects } from './endable-objects.ts'
import { MemoryObjectStore } from '../conformance/memory-object-store.ts'
import { runSuite } from './run-suite.ts'
import { judgeScratch, makeScratchName } from './scratch-name.ts'

const { signal } = new AbortController()
const onCase = (): void => {}

describe('a suite', () => {
  it('goes on after a case that fails, and tells which and why', async () => {
    const ran: string[] = []
    const cases = ['first', 'second', 'third'].map((name) => ({
      name,
      run: async () => {
        ran.push(name)
        if (name === 'second') throw new Error('expected 1, got 2')
      },
    }))
    const result = await runSuite({ store: 'objects', name: 'some', cases }, undefined, {
      signal,
      onCase: (_, name) => ran.push(`before ${name}`),
    })
    expect(result).toMatchObject({
      passed: 2,
      failures: [{ case: 'second', reason: 'expected 1, got 2' }],
    })
    expect(ran).toEqual(['first', 'second', 'third'].flatMap((name) => [`before ${name}`, name]))
  })

  it('a suite does not wait for a case that hangs once it is interrupted', async () => {
    const ending = new AbortController()
    const cases = [
      {
        name: 'hangs',
        run: () => {
          queueMicrotask(() => ending.abort(new Error('interrupted')))
          return new Promise<void>(() => {})
        },
      },
    ]
    const suite = { store: 'objects', name: 'some', cases } as const
    const running = runSuite(suite, undefined, { signal: ending.signal, onCase })
    await expect(running).rejects.toThrow('interrupted')
  })
})

it('objects that were closed take nothing more, and what was on its way is waited for', async () => {
  const memory = new MemoryObjectStore()
  const gate = Promise.withResolvers<void>()
  const put = memory.put.bind(memory)
  memory.put = async (key, bytes) => {
    await gate.promise
    await put(key, bytes)
  }
  const objects = new EndableObjects(memory)
  const early = objects.put('early', Uint8Array.of(1))
  const closed = objects.close()
  await expect(objects.put('late', Uint8Array.of(1))).rejects.toThrow('the check is over')
  gate.resolve()
  await closed
  expect([...memory.objects.keys()]).toEqual(['early'])
  await early
})

it.each([
  ['agree', 0, 'ok'],
  ['30 s ahead of', 30_000, 'ok'],
  ['7200 s ahead of', 7_200_000, 'fail'],
  ['7200 s behind', -7_200_000, 'fail'],
])('a clock: %s', async (words, skewMs, state) => {
  const finding = await checkClock('the database', async () => Date.now() + skewMs)
  expect(finding.state).toBe(state)
  expect(finding.says).toContain(words)
})

it('a scratch name carries its time; other names are never taken for one', () => {
  const madeMs = Date.UTC(2026, 1, 28, 23, 59, 59)
  const name = makeScratchName(madeMs)
  expect(name).toMatch(/^cairn_verify_20260228235959_[0-9a-f]{8}$/)
  const dayMs = 24 * 60 * 60 * 1000
  expect(judgeScratch(name, madeMs + dayMs)).toBe('young')
  expect(judgeScratch(name, madeMs + dayMs + 1)).toBe('old')
  for (const other of ['cairn', 'cairn_verify', `${name}_2`, `x${name}`, name.toUpperCase()])
    expect(judgeScratch(other, Infinity)).toBe(undefined)
})
