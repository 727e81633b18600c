import { type Command, defineCommand } from '../../arguments/command.ts'
import { usageError } from '../../errors.ts'
import { formatBytes } from '../../output/format.ts'
import { placesOf, storeOptions } from '../../server-stores.ts'

const dayMs = 24 * 60 * 60 * 1000

export const command: Command = defineCommand({
  summary: 'Take away what nobody can ask for any more',
  description:
    'Trees and bytes that no branch, layer, checkpoint, rollback or upload leads to. What was deleted stays for the grace time.\n' +
    'The server must be stopped; of stores that several servers share, only a dry run is possible.',
  arguments: {},
  options: {
    ...storeOptions,
    'grace-days': {
      kind: 'count',
      value: 'N',
      summary: 'Keep what was deleted since; 7 unless given',
    },
    'dry-run': { kind: 'flag', summary: 'Only tell what and how much' },
  },
  examples: [
    { command: 'cairn server gc --dry-run', does: 'how much would it be?' },
    { command: 'cairn server gc --data /srv/cairn --grace-days 1', does: 'take it away' },
  ],
  async run({ options, cli }) {
    const { 'dry-run': dryRun, 'grace-days': days = 7, meta, objects } = options
    if (!dryRun && (meta !== undefined || objects !== undefined))
      throw usageError(
        'collect garbage of stores that servers share',
        'one of them may be writing',
        'Give --dry-run.',
      )
    const { collectGarbage, withStorage } = await import('@cairn/server')
    const job = { dryRun, nowMs: Date.now(), graceMs: days * dayMs }
    const report = await withStorage(placesOf(cli, options), (storage) =>
      collectGarbage(storage, job),
    )
    if (cli.isJson) return cli.out.json(report)
    const { branches, removed } = report
    const did = dryRun ? 'would take away' : 'took away'
    await cli.out.line(`${did} ${branches} deleted branches, ${describe(removed)}`)
    await cli.out.line(`kept ${describe(report.kept)}`)
  },
})

interface Tally {
  readonly count: number
  readonly bytes: number
}

function describe({ nodes, blobs }: { readonly nodes: Tally; readonly blobs: Tally }): string {
  const bytes = formatBytes(nodes.bytes + blobs.bytes)
  return `${nodes.count} nodes and ${blobs.count} blobs, ${bytes} bytes`
}
