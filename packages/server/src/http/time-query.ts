import { CairnError } from '@cairn/protocol'

/** A time in a query, as it is stored: texts in their order are times in their order. */
function isoOfQuery(name: string, text: string | undefined): string | undefined {
  const ms = msOfQuery(name, text)
  return ms === undefined ? undefined : new Date(ms).toISOString()
}

export function nanosecondsOfQuery(name: string, text: string | undefined): bigint | undefined {
  const ms = msOfQuery(name, text)
  return ms === undefined ? undefined : BigInt(ms) * 1_000_000n
}

function msOfQuery(name: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined
  const ms = Date.parse(text)
  if (!Number.isNaN(ms)) return ms
  throw new CairnError('invalid_argument', {
    what: `read ${name}`,
    reason: 'want a time such as 2026-11-02T10:00:00Z',
    subject: name,
  })
}

interface TimeSpan {
  readonly since?: string
  readonly until?: string
}

/** The same for the two ends of a span. */
export function spanOfQuery({ since, until }: TimeSpan): TimeSpan {
  const [from, to] = [isoOfQuery('since', since), isoOfQuery('until', until)]
  return {
    ...(from === undefined ? {} : { since: from }),
    ...(to === undefined ? {} : { until: to }),
  }
}
