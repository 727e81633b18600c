import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { ProgressNotes } from './progress-notes.ts'

describe('how much of the log a mount has applied', () => {
  let settledSeq: number
  let wake: () => void
  const append = vi.fn<() => void>()
  let notes: ProgressNotes

  beforeEach(() => {
    vi.useFakeTimers()
    append.mockReset()
    settledSeq = 0
    const position = {
      get settledSeq() {
        return settledSeq
      },
      whenSettled: async (seq: number) => {
        while (settledSeq < seq) await new Promise<void>((resolve) => (wake = resolve))
      },
    }
    notes = new ProgressNotes(position, append)
    notes.note()
    void notes.keepNoting()
    append.mockReset()
  })
  afterEach(() => void vi.useRealTimers())

  const settle = async (seq: number): Promise<void> => {
    await vi.advanceTimersByTimeAsync(0)
    settledSeq = seq
    wake()
    await vi.advanceTimersByTimeAsync(0)
  }

  it('how much of the log a mount has applied is noted a moment after it moved on, and only then', async () => {
    await vi.advanceTimersByTimeAsync(60_000)
    expect(vi.getTimerCount()).toBe(0)
    await settle(1)
    settledSeq = 5
    await vi.advanceTimersByTimeAsync(1000)
    expect(append).toHaveBeenCalledTimes(1)
    await settle(6)
    await vi.advanceTimersByTimeAsync(1000)
    expect(append).toHaveBeenCalledTimes(2)
  })

  it('how much of the log a mount has applied is noted again after a time when the disk was full', async () => {
    append.mockImplementationOnce(() => {
      throw new Error('ENOSPC')
    })
    await settle(1)
    await vi.advanceTimersByTimeAsync(1000)
    await settle(2)
    await vi.advanceTimersByTimeAsync(1000)
    expect(append).toHaveBeenCalledTimes(2)
  })

  it('how much of the log a mount has applied is not noted after the end', async () => {
    await settle(1)
    notes.end()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(append).not.toHaveBeenCalled()
  })
})
