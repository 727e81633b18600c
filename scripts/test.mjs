// Everything from a fresh clone to a verdict: `npm test`. Runs on any Node from 20 on and without
// packages, because it is what installs them.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { countFailedChecks } from './checks.mjs'
import { install } from './install.mjs'
import { countTests, describeCounts, failedFiles } from './report.mjs'
import { modules, run } from './run.mjs'

// More than this many files do not fail by chance.
const mostFilesToAskAgain = 8

const { askTwice, vitestArgs } = parseArguments(process.argv.slice(2))
const counts = testEverything(vitestArgs)
if (counts.failed > 0) process.exitCode = 1
console.log(describeCounts(counts))

/** @param {readonly string[]} vitestArgs given: a quick look at some tests, so the checks are left out */
function testEverything(vitestArgs) {
  try {
    install()
  } catch (error) {
    console.error(error instanceof Error ? error.message : error)
    return { passed: 0, failed: 1, skipped: 0 }
  }
  const failedChecks = vitestArgs.length === 0 ? countFailedChecks() : 0
  const report = runVitest(vitestArgs)
  const tests = askTwice ? askAgain(report) : countTests(report.report, report.succeeded)
  return { ...tests, failed: tests.failed + failedChecks }
}

/**
 * Runs the files that failed a second time, alone, and everything where the failure is in no file. A test that fails only
 * beside others is a fault, and the last lines name it, but CI must tell it from a change that is broken.
 *
 * @param {Run} first
 */
function askAgain(first) {
  const counts = countTests(first.report, first.succeeded)
  const files = failedFiles(first.report)
  if (counts.failed === 0 || files.length > mostFilesToAskAgain) return counts
  console.log(['', 'Asking again:', ...(files.length === 0 ? ['every file'] : files)].join('\n'))
  const second = runVitest(files.length === 0 ? [] : [...files, '--maxWorkers=1'])
  const { failed } = countTests(second.report, second.succeeded)
  const stillFailing = failedFiles(second.report)
  for (const file of files.filter((each) => !stillFailing.includes(each))) {
    console.error(`UNSTEADY: ${file} failed, then passed alone.`)
  }
  return { ...counts, passed: counts.passed + counts.failed - failed, failed }
}

/**
 * @typedef {object} Run
 * @property {import('./report.mjs').TestReport | undefined} report
 * @property {boolean} succeeded
 */

/**
 * @param {readonly string[]} args
 * @returns {Run}
 */
function runVitest(args) {
  const reportPath = join(modules, '.cairn-report.json')
  rmSync(reportPath, { force: true })
  const reporters = ['default', 'json', './scripts/hang-reporter.mjs'].map(
    (each) => `--reporter=${each}`,
  )
  const output = `--outputFile.json=${reportPath}`
  const succeeded = run('vitest', ['run', ...reporters, output, ...args])
  const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : undefined
  return { report, succeeded }
}

/** @param {readonly string[]} args `--ask-twice` is ours, the rest is vitest's */
function parseArguments(args) {
  const vitestArgs = args.filter((each) => each !== '--ask-twice')
  return { askTwice: vitestArgs.length < args.length, vitestArgs }
}
