import { noMount, Site } from '../mount/fixture.ts'
import { benchClones, cloneNames } from './sharing/clones.ts'
import { benchIdleSessions } from './sharing/idle-sessions.ts'
import { benchLoss } from './sharing/loss.ts'
import { benchServers, serverNames } from './sharing/servers.ts'
import { benchSynchronous, synchronousNames } from './sharing/synchronous.ts'
import { unknownNames, wants } from './mount/result.ts'
import { printTable, type Row } from './table.ts'

/** Each on new servers: what one of them wrote must not slow the next one down. */
const benches: readonly (readonly [names: readonly string[], bench: () => Promise<Row[]>])[] = [
  [cloneNames, () => onSite(benchClones)],
  [['sessions'], () => onSite(benchIdleSessions)],
  [synchronousNames, () => onSite(benchSynchronous)],
  [['loss'], () => onSite(benchLoss)],
  [serverNames, benchServers],
]

const title = 'sharing: beside the same work alone'
const columns = ['alone', 'beside', 'ratio', 'machine']

/** What other clients cost a mount that works, and what it costs to wait for the server. */
export async function benchSharing(): Promise<void> {
  if (noMount !== undefined) return console.error(`sharing: skipped, ${noMount}`)
  const unknown = unknownNames(benches.flatMap(([names]) => names))
  if (unknown.length > 0) throw new Error(`sharing: nothing is called ${unknown.join(', ')}`)
  for (const [names, bench] of benches) {
    if (wants(...names)) printTable(title, columns, await bench())
  }
  console.log(
    'latencies: the best of five runs; machine: the longest that a loop with nothing to do had to wait in that run',
  )
}

async function onSite(bench: (site: Site) => Promise<Row[]>): Promise<Row[]> {
  const site = await Site.open()
  try {
    return await bench(site)
  } finally {
    await site.close()
  }
}
