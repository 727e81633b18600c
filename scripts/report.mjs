/**
 * What this file reads of vitest's JSON report.
 *
 * @typedef {object} TestReport
 * @property {number} numPassedTests
 * @property {number} numFailedTests
 * @property {number} numPendingTests
 * @property {number} numTodoTests
 * @property {readonly { name: string, status: string, assertionResults: readonly { status: string }[] }[]} testResults
 */

/**
 * @typedef {object} Counts
 * @property {number} passed
 * @property {number} failed
 * @property {number} skipped
 */

/**
 * Counts so that no failure is lost: a test file that could not be loaded has no failed test in it, and a
 * run may fail outside of every file.
 *
 * @param {TestReport | undefined} report undefined when vitest died before writing it
 * @param {boolean} succeeded what vitest's exit code said
 * @returns {Counts}
 */
export function countTests(report, succeeded) {
  if (report === undefined) return { passed: 0, failed: 1, skipped: 0 }
  const failed = report.numFailedTests + report.testResults.filter(failedOutsideTests).length
  return {
    passed: report.numPassedTests,
    failed: failed === 0 && !succeeded ? 1 : failed,
    skipped: report.numPendingTests + report.numTodoTests,
  }
}

/**
 * @param {TestReport | undefined} report
 * @returns {string[]} the paths of the test files that failed
 */
export function failedFiles(report) {
  return (report?.testResults ?? [])
    .filter(({ status }) => status === 'failed')
    .map(({ name }) => name)
}

/** @param {TestReport['testResults'][number]} file */
function failedOutsideTests(file) {
  return (
    file.status === 'failed' && file.assertionResults.every(({ status }) => status !== 'failed')
  )
}

/** @param {Counts} counts */
export function describeCounts({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped === 0 ? '' : `, ${skipped} skipped`}`
}
