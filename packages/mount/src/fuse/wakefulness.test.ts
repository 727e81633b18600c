import {
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { Wakefulness } from './wakefulness.ts'

describe('wakefulness', () => {
  let directory: string
  let device: string
  let wakefulness: Wakefulness

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-wakefulness-'))
    device = join(directory, 'device')
    writeFileSync(device, '')
    wakefulness = new Wakefulness(device)
    vi.useFakeTimers()
  })
  afterEach(() => {
    wakefulness.end()
    vi.useRealTimers()
    rmSync(directory, { recursive: true })
  })

  function isHeld(): boolean {
    return readdirSync('/proc/self/fd').some((fd) => {
      try {
        return readlinkSync(`/proc/self/fd/${fd}`) === device
      } catch {
        // The one that the listing itself had open.
        return false
      }
    })
  }

  async function ask(times: number, ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 10) {
      wakefulness.note(times)
      await vi.advanceTimersByTimeAsync(10)
    }
  }

  it('a burst of requests keeps CPUs awake: no latency is asked for', async () => {
    await ask(100, 20)
    expect(isHeld()).toBe(true)
    expect([...readFileSync(device)]).toEqual([0, 0, 0, 0])
  })

  it('a moment after the last of them they may sleep again', async () => {
    await ask(100, 20)
    await vi.advanceTimersByTimeAsync(1000)
    expect(isHeld()).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
    await ask(100, 20)
    expect(isHeld()).toBe(true)
  })

  it('a request now and then lets them sleep', async () => {
    await ask(2, 1000)
    expect(isHeld()).toBe(false)
  })

  it('a process without the permission asks only once', async () => {
    rmSync(device)
    await ask(100, 20)
    writeFileSync(device, '')
    await ask(100, 200)
    expect(isHeld()).toBe(false)
    expect(vi.getTimerCount()).toBe(0)
  })
})
