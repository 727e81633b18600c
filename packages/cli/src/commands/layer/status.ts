import type { LayerStatus } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { conflictLines } from '../../layers/conflicts.ts'
import {
  countPaths,
  formatChange,
  formatOverlap,
  formatQuiet,
  formatTags,
} from '../../layers/format.ts'
import { formatQuota } from '../../layers/quota.ts'
import { formatBytes } from '../../output/format.ts'
import { formatTable } from '../../output/table.ts'
import { openWorkspace } from '../../remote/open.ts'
import { commandLine } from '../../output/shell-words.ts'

export const command: Command = defineCommand({
  summary: 'Show what a layer changed, and what others changed at the same paths',
  description:
    'It also shows which of these paths the parent or another layer has changed since, and the conflicts that\n' +
    'a commit would have.',
  arguments: { layer: { summary: 'Id, name or tag of a layer, or a checkpoint' } },
  options: workspaceOptions,
  examples: [{ command: 'cairn fs layer status fix-auth-a', does: 'before committing' }],
  async run({ args: { layer }, options, cli }) {
    const workspace = await openWorkspace(cli, options)
    const status = await workspace.layers.status(layer, { signal: cli.signal })
    if (cli.isJson) return cli.out.json(status)
    const { isTerminal } = cli.out
    const lines = [
      ...formatTable(rows(status)),
      `changed: ${countPaths(status.changes.length)}`,
      ...status.changes.map((change) => `  ${formatChange(change, isTerminal)}`),
      ...status.overlaps.map((overlap) => formatOverlap(overlap, isTerminal)),
      ...(status.conflicts.length > 0 ? conflictLines(layer, status.conflicts, isTerminal) : []),
      ...nextLines(layer, status),
    ]
    for (const line of lines) await cli.out.line(line)
  },
})

function rows({
  id,
  name,
  state,
  path,
  parent,
  tags,
  message,
  autoCheckpointMs,
  ...status
}: LayerStatus): string[][] {
  return [
    ['layer:', name === undefined ? id : `${name} (${id})`],
    ['state:', state],
    ['path:', path],
    ['parent:', status.behind ? `${parent}, which has moved since` : parent],
    ...(Object.keys(tags).length > 0 ? [['tags:', formatTags(tags)]] : []),
    ...(message === '' ? [] : [['message:', message]]),
    ['made:', `${status.createdAt} by ${status.createdBy}`],
    ['head:', `${status.head.root.slice(0, 16)} at ${status.head.seq}`],
    ['base:', status.base.root.slice(0, 16)],
    ['bytes:', bytesText(status.bytes)],
    ...(status.expiresAt === undefined ? [] : [['goes:', status.expiresAt]]),
    ['added:', formatQuota(status.quota, status.used)],
    ...(autoCheckpointMs === undefined ? [] : [['checkpoints:', formatQuiet(autoCheckpointMs)]]),
  ]
}

function nextLines(layer: string, { state, conflicts, behind, changes }: LayerStatus): string[] {
  if (state === 'abandoned') return [commandLine`next: cairn fs layer reopen ${layer}`]
  if (state === 'committed' || conflicts.length > 0) return []
  if (behind)
    return [commandLine`next: cairn fs layer rebase ${layer}, or cairn fs layer commit ${layer}`]
  return changes.length === 0 ? [] : [commandLine`next: cairn fs layer commit ${layer}`]
}

function bytesText({ private: own, shared }: LayerStatus['bytes']): string {
  return `${formatBytes(own)} its own, ${formatBytes(shared)} shared with its base`
}
