import { describe, expect, it } from 'vitest'
import { countTests, describeCounts, failedFiles } from './report.mjs'

const allPassed = {
  numPassedTests: 2,
  numFailedTests: 0,
  numPendingTests: 0,
  numTodoTests: 0,
  testResults: [{ name: 'a.test.ts', status: 'passed', assertionResults: [{ status: 'passed' }] }],
}

describe('counting tests', () => {
  it('a failed test counts once', () => {
    const testResults = [
      { name: 'b.test.ts', status: 'failed', assertionResults: [{ status: 'failed' }] },
    ]
    const counts = countTests({ ...allPassed, numFailedTests: 1, testResults }, false)
    expect(counts).toEqual({ passed: 2, failed: 1, skipped: 0 })
  })

  it('a file that cannot be loaded is a failure', () => {
    const testResults = [
      ...allPassed.testResults,
      { name: 'b.test.ts', status: 'failed', assertionResults: [] },
    ]
    expect(countTests({ ...allPassed, testResults }, false).failed).toBe(1)
  })

  it('a run that fails although every test passed is a failure', () => {
    expect(countTests(allPassed, false).failed).toBe(1)
  })

  it('a run without a report is a failure', () => {
    expect(countTests(undefined, false).failed).toBe(1)
  })

  it('skipped tests are told only when there are any', () => {
    const skipping = countTests({ ...allPassed, numPendingTests: 3 }, true)
    expect(describeCounts(skipping)).toBe('2 passed, 0 failed, 3 skipped')
    expect(describeCounts(countTests(allPassed, true))).toBe('2 passed, 0 failed')
  })

  it('the files that failed are named, a file that cannot be loaded among them', () => {
    const testResults = [
      ...allPassed.testResults,
      { name: 'b.test.ts', status: 'failed', assertionResults: [] },
    ]
    expect(failedFiles({ ...allPassed, testResults })).toEqual(['b.test.ts'])
    expect(failedFiles(undefined)).toEqual([])
  })
})
