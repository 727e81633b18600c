import type { HashedEntry } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { formatName } from '../output/format.ts'

export async function printEntry(cli: Cli, entry: HashedEntry, isNamed = false): Promise<void> {
  if (cli.isJson) await cli.out.json(entry)
  else await cli.out.line(formatName(describe(entry, isNamed), cli.out.isTerminal))
}

/** `3  2026-11-02T10:00:00.000Z  alice  tool.call.completed  ok  {"tool":"pytest"}` */
function describe(entry: HashedEntry, isNamed: boolean): string {
  const { journal, seq, time, actor, by, type, status, subjects, summary, toolCall } = entry
  const parts = [
    isNamed ? `${journal} ${seq}` : String(seq),
    time,
    actor === undefined ? by : `${actor} (${by})`,
    type,
    status,
    subjects?.map((each) => (typeof each === 'string' ? each : JSON.stringify(each))).join(' '),
    summary === undefined ? undefined : JSON.stringify(summary),
    toolCall === undefined ? undefined : `tool call ${toolCall}`,
  ]
  return parts.filter((part) => part !== undefined && part !== '').join('  ')
}
