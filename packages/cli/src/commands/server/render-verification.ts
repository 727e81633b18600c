import type { VerifyReport } from '@cairn/server/verify'
import { formatBytes } from '../../output/format.ts'
import { formatTable } from '../../output/table.ts'

/** What was found, as tables: settings, suites with the cases that failed, speed. What is not fit is the command's error. */
export function renderVerification(report: VerifyReport): string[] {
  return [
    `database  ${report.database}`,
    `objects   ${report.objects}`,
    '',
    ...checkLines(report),
    '',
    ...suiteLines(report),
    ...failureLines(report),
    ...speedLines(report),
    ...verdictLines(report),
  ]
}

function checkLines({ checks }: VerifyReport): string[] {
  return formatTable(
    checks.map(({ state, store, name, says, fix }) => [
      state,
      store,
      name,
      fix === undefined ? says : `${says}. Fix: ${fix}`,
    ]),
  )
}

function suiteLines({ suites }: VerifyReport): string[] {
  return formatTable(
    suites.map(({ store, name, passed, failures, seconds }) => [
      failures.length === 0 ? 'ok' : 'fail',
      store,
      name,
      `${passed} of ${passed + failures.length} cases`,
      `${seconds.toFixed(1)} s`,
    ]),
    [3, 4],
  )
}

function failureLines({ suites }: VerifyReport): string[] {
  return suites.flatMap(({ store, name, failures }) =>
    failures.map((failure) => `fail  ${store}, ${name}: ${failure.case}: ${failure.reason}`),
  )
}

function speedLines({ speeds }: VerifyReport): string[] {
  if (speeds.length === 0) return []
  const rows = speeds.map(({ store, name, p50Ms, p99Ms, perSecond, bytesPerSecond }) => [
    store,
    name,
    `${p50Ms.toFixed(1)} ms`,
    `${p99Ms.toFixed(1)} ms`,
    perSecond.toFixed(0),
    bytesPerSecond === undefined ? '' : formatBytes(bytesPerSecond),
  ])
  const head = ['store', 'request', 'p50', 'p99', 'requests/s', 'bytes/s']
  return ['', ...formatTable([head, ...rows], [2, 3, 4, 5])]
}

function verdictLines({ checks, suites, isFit }: VerifyReport): string[] {
  if (!isFit) return []
  const cases = suites.reduce((sum, { passed }) => sum + passed, 0)
  const warnings = checks.filter(({ state }) => state === 'warn').length
  const rest = warnings === 0 ? '' : ` Look at what is marked \`warn\` (${warnings}).`
  return ['', `Cairn can use these stores: ${cases} of ${cases} cases passed.${rest}`]
}
