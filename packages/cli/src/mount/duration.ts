import { usageError } from '../errors.ts'

const unitsMs: Readonly<Record<string, number>> = {
  ms: 1,
  s: 1000,
  m: 60_000,
  h: 3_600_000,
  d: 86_400_000,
}

export const timeoutOption = {
  kind: 'text',
  value: 'D',
  summary: 'How long to wait: 500ms, 30s, 5m (default: no limit)',
} as const

/** `30s`; a number alone is seconds. In milliseconds. */
export function parseTimeout(text: string | undefined, option = '--timeout'): number | undefined {
  if (text === undefined) return undefined
  const [, count, unit = 's'] = /^(\d{1,9})(ms|s|m|h|d)?$/.exec(text) ?? []
  if (count !== undefined) return Number(count) * unitsMs[unit]!
  const hint = 'Give a number and a unit: 500ms, 30s, 5m, 1h, 7d.'
  throw usageError(`take ${option} ${text}`, `'${text}' is no length of time`, hint)
}
