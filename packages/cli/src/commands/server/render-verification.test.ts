import type { VerifyReport } from '@cairn/server/verify'
import { describe, expect, it } from 'vitest'
import { renderVerification } from './render-verification.ts'

const fit: VerifyReport = {
  database: 'SQLite in data',
  objects: 'files in data',
  checks: [{ store: 'database', name: 'clock', state: 'ok', says: 'they agree' }],
  suites: [
    { store: 'database', name: 'log', passed: 27, failures: [], seconds: 1 },
    { store: 'objects', name: 'objects', passed: 20, failures: [], seconds: 1 },
  ],
  speeds: [],
  isFit: true,
}

describe('the report on stores', () => {
  it('ends with what it means', () => {
    expect(renderVerification(fit).at(-1)).toBe(
      'Cairn can use these stores: 47 of 47 cases passed.',
    )
  })

  it('sends to the warnings', () => {
    const skewed = { ...fit.checks[0]!, state: 'warn', says: '2 s apart', fix: 'Run NTP' } as const
    expect(renderVerification({ ...fit, checks: [skewed] }).at(-1)).toBe(
      'Cairn can use these stores: 47 of 47 cases passed. Look at what is marked `warn` (1).',
    )
  })

  it('says nothing of the kind where something failed', () => {
    const failures = [{ case: 'append', reason: 'lost' }]
    const suites = [{ ...fit.suites[0]!, failures }]
    const lines = renderVerification({ ...fit, suites, isFit: false })
    expect(lines.at(-1)).toBe('fail  database, log: append: lost')
  })
})
