// Everything from a fresh clone to a verdict: `npm test`. Runs on any Node from 20 on and without
// packages, because it is what installs them.
import { existsSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { countFailedChecks } from './checks.mjs'
import { install } from './install.mjs'
import { countTests, describeCounts } from './report.mjs'
import { modules, run } from './run.mjs'

const counts = testEverything(process.argv.slice(2))
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
  const tests = runVitest(vitestArgs)
  return { ...tests, failed: tests.failed + failedChecks }
}

/** @param {readonly string[]} args */
function runVitest(args) {
  const reportPath = join(modules, '.cairn-report.json')
  rmSync(reportPath, { force: true })
  const reporters = ['default', 'json', './scripts/hang-reporter.mjs'].map(
    (each) => `--reporter=${each}`,
  )
  const output = `--outputFile.json=${reportPath}`
  const succeeded = run('vitest', ['run', ...reporters, output, ...args])
  const report = existsSync(reportPath) ? JSON.parse(readFileSync(reportPath, 'utf8')) : undefined
  return countTests(report, succeeded)
}
