import { vaultOutcomes } from '@cairn/protocol'
import type { VaultAuditEntry } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { formatName } from '../../output/format.ts'
import { parseTime } from '../../output/parse-time.ts'
import { openVault } from '../../vault/open-vault.ts'
import { showSecretPath } from '../../vault/secret-path.ts'

export const command: Command = defineCommand({
  summary: 'Show who read, wrote or was refused which secrets',
  description: 'Newest first. Every read and refusal is recorded before it is answered.',
  arguments: {},
  options: {
    ...workspaceOptions,
    secret: { kind: 'text', value: 'NAME', summary: 'Only entries about this secret' },
    agent: { kind: 'text', value: 'NAME', summary: 'Only entries by grants of this agent' },
    actor: {
      kind: 'text',
      value: 'WHO',
      summary: 'Only entries by this key name, token id or grant id',
    },
    outcome: { kind: 'choice', choices: vaultOutcomes, summary: 'Only entries with this outcome' },
    since: { kind: 'text', value: 'TIME', summary: 'Only entries from this time on' },
    until: { kind: 'text', value: 'TIME', summary: 'Only entries before this time' },
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'At most N (default: 100)' },
  },
  examples: [
    { command: 'cairn vault audit --secret prod-db --since 2026-11-02', does: 'who read it' },
    { command: 'cairn vault audit --outcome denied', does: 'who was refused' },
  ],
  async run({ options, cli }) {
    const { secret, agent, actor, outcome, limit = 100 } = options
    const since = parseTime('--since', options.since)
    const until = parseTime('--until', options.until)
    const vault = await openVault(cli, options)
    const pageSize = Math.max(1, Math.min(limit, 1000))
    const filter = { secret, agent, actor, outcome, since, until, pageSize, signal: cli.signal }
    let left = limit
    if (left === 0) return
    for await (const entry of vault.audit(filter)) {
      if (cli.isJson) await cli.out.json(entry)
      else await cli.out.line(formatName(describe(entry), cli.out.isTerminal))
      if (--left === 0) return
    }
  },
})

function describe(entry: VaultAuditEntry): string {
  const { time, actor, agent, action, secret, field, version, outcome, toolCall } = entry
  const path =
    secret === undefined
      ? ''
      : ` ${showSecretPath({ secret, ...(field === undefined ? {} : { field }) })}`
  const at = version === undefined ? '' : ` version ${version}`
  const who = agent === undefined ? actor : `${agent} (${actor})`
  const call = toolCall === undefined ? '' : `  tool call ${toolCall}`
  return `${time}  ${who}  ${action}${path}${at}  ${outcome}${call}`
}
