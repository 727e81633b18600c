import type { CollectReport } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import type { Cli } from '../../cli.ts'
import {
  connectionOptions,
  type ConnectionValues,
  findCredentials,
} from '../../context/credentials.ts'
import { formatBytes, formatName } from '../../output/format.ts'
import { connect } from '../../remote/open.ts'
import { existingPlacesOf, storeOptions } from '../../server-stores.ts'

const dayMs = 24 * 60 * 60 * 1000

export const command: Command = defineCommand({
  summary: 'Delete unreachable data',
  description:
    'Deletes trees and content that no branch, layer, checkpoint, rollback or upload refers to. Closed layers\n' +
    'and deleted workspaces stay for a week, and unreachable content for a day. A running server collects\n' +
    'garbage regularly; without --data and --meta, the command asks it to do so now. With them, the command\n' +
    'opens the stores itself: stop the server of a directory first, and then unreachable content is deleted\n' +
    'at once.',
  arguments: {},
  options: {
    ...connectionOptions,
    ...storeOptions,
    'grace-days': {
      kind: 'count',
      value: 'N',
      summary: 'With --data or --meta: keep what was deleted in the last N days (default: 7)',
    },
    'dry-run': {
      kind: 'flag',
      summary: 'Show what would be deleted, and delete nothing; --json lists everything',
    },
  },
  examples: [
    { command: 'cairn server gc --dry-run', does: 'how much would be deleted?' },
    { command: 'cairn server gc', does: 'ask the server to do it now' },
    {
      command: 'cairn server gc --data /srv/cairn --grace-days 1',
      does: 'while the server is stopped',
    },
  ],
  async run({ options, cli }) {
    const { data, meta } = options
    const isStopped = data !== undefined || meta !== undefined
    const report = isStopped ? await collectHere(cli, options) : await askServer(cli, options)
    if (cli.isJson) return cli.out.json(report)
    const { dryRun, layers, branches, checkpoints, removed, waiting, kept } = report
    const did = dryRun ? 'would take away' : 'took away'
    await cli.out.line(`${did} ${branches} deleted branches, ${describe(removed)}`)
    if (layers > 0) await cli.out.line(`of them ${layers} layers that were over`)
    for (const line of goneLines(report.gone, cli.out.isTerminal)) await cli.out.line(line)
    if (checkpoints > 0) await cli.out.line(`and ${checkpoints} checkpoints of lost leases`)
    if (waiting.nodes.count + waiting.blobs.count > 0)
      await cli.out.line(`in their grace time: ${describe(waiting)}`)
    await cli.out.line(`kept ${describe(kept)}`)
  },
})

interface GcValues extends ConnectionValues {
  readonly data?: string | undefined
  readonly meta?: string | undefined
  readonly objects?: string | undefined
  readonly 'dry-run': boolean
  readonly 'grace-days'?: number | undefined
}

async function askServer(cli: Cli, values: GcValues): Promise<CollectReport> {
  const cairn = connect(await findCredentials(cli, values))
  return cairn.collectGarbage({ dryRun: values['dry-run'], signal: cli.signal })
}

async function collectHere(cli: Cli, values: GcValues): Promise<CollectReport> {
  const { Collector, ordinaryKeepTimes, withStorage } = await import('@cairn/server')
  const { 'dry-run': dryRun, 'grace-days': days = 7, meta } = values
  const keep = { ...ordinaryKeepTimes, retentionMs: days * dayMs }
  // A directory is locked while it is open; a database may be in use by any number of servers.
  const alone = meta === undefined
  return withStorage(existingPlacesOf(cli, values), (storage) =>
    new Collector(storage, { ...keep, nowMs: Date.now }).run({ dryRun, alone }),
  )
}

/** More is for programs: --json has all. */
const namedMax = 20

function goneLines(
  { workspaces, layers, branches }: CollectReport['gone'],
  isTerminal: boolean,
): string[] {
  const isTold = ({ id, workspace, layer }: CollectReport['gone']['branches'][number]): boolean =>
    workspaces.some((gone) => id.startsWith(`${gone.id}/`)) ||
    layers.some((gone) => gone.workspace === workspace && gone.id === layer)
  const deleted = branches.filter((branch) => !isTold(branch))
  const lines = [
    ...workspaces.map(({ name, deletedAt }) => `workspace ${name}, deleted ${deletedAt}`),
    ...layers.map(
      ({ workspace, id, name, state, closedAt }) =>
        `layer ${name === undefined ? id : `${name} (${id})`} of ${workspace}, ${state} ${closedAt}`,
    ),
    ...deleted.map(({ workspace, id, layer }) => `layer ${layer ?? id} of ${workspace}, deleted`),
  ]
  const more = lines.length - namedMax
  return [
    ...lines.slice(0, namedMax).map((line) => `  ${formatName(line, isTerminal)}`),
    ...(more > 0 ? [`  and ${more} more: --json has them all`] : []),
  ]
}

function describe({ nodes, blobs }: CollectReport['kept']): string {
  const bytes = formatBytes(nodes.bytes + blobs.bytes)
  return `${nodes.count} nodes and ${blobs.count} blobs, ${bytes} bytes`
}
