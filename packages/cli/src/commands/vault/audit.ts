import { vaultOutcomes } from '@cairn/protocol'
import type { VaultAuditEntry } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import { formatName } from '../../output/format.ts'
import { parseTime } from '../../output/parse-time.ts'
import { openVault } from '../../vault/open-vault.ts'
import { showSecretPath } from '../../vault/secret-path.ts'

export const command: Command = defineCommand({
  summary: 'Tell who read, wrote or was refused what',
  description: 'Newest first. Every read and every refusal is noted before it is answered.',
  arguments: {},
  options: {
    ...layerOptions,
    secret: { kind: 'text', value: 'NAME', summary: 'Only of this secret' },
    agent: { kind: 'text', value: 'NAME', summary: 'Only by the grants of this agent' },
    actor: { kind: 'text', value: 'WHO', summary: 'Only by this key name, token or grant id' },
    outcome: { kind: 'choice', choices: vaultOutcomes, summary: 'Only what ended so' },
    since: { kind: 'text', value: 'TIME', summary: 'Only what happened then or later' },
    until: { kind: 'text', value: 'TIME', summary: 'Only what happened earlier' },
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'So many at most; 100 unless given' },
  },
  examples: [
    { command: 'cairn vault audit --secret prod-db --since 2026-11-02', does: 'who read it' },
    { command: 'cairn vault audit --outcome denied', does: 'who tried in vain' },
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
