import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import HangReporter from './hang-reporter.mjs'

describe('a test file of which nothing is heard', () => {
  let state: string
  const module = { moduleId: '/project/some.test.ts', state: () => state }
  const giveUp = vi.fn<(text: string) => void>()
  let reporter: HangReporter

  beforeEach(() => {
    vi.useFakeTimers()
    giveUp.mockClear()
    state = 'pending'
    reporter = new HangReporter({ giveUp })
    reporter.onTestModuleStart(module)
  })
  afterEach(() => void vi.useRealTimers())

  it('a test file of which nothing is heard is told after ten minutes, with the last test that ended and who is waiting', () => {
    vi.advanceTimersByTime(9 * 60_000)
    reporter.onTestCaseResult({ module, fullName: 'reads a file' })
    vi.advanceTimersByTime(9 * 60_000)
    expect(giveUp).not.toHaveBeenCalled()
    vi.advanceTimersByTime(60_000)
    const [text] = giveUp.mock.calls[0]!
    expect(text).toContain('/project/some.test.ts hangs in what comes after ‘reads a file’')
    expect(text).toContain(`${process.pid} of ${process.ppid}`)
  })

  it('a test file of which nothing is heard is not told of when it has ended, whatever was told last', () => {
    state = 'passed'
    reporter.onTestCaseResult({ module, fullName: 'reads a file' })
    vi.advanceTimersByTime(60 * 60_000)
    expect(giveUp).not.toHaveBeenCalled()
  })
})
