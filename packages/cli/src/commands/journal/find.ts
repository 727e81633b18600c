import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { printEntry } from '../../journal/show-entry.ts'
import { parseTime } from '../../output/parse-time.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Find entries in all journals, oldest first',
  arguments: {},
  options: {
    ...workspaceOptions,
    journal: { kind: 'text', value: 'ID', summary: 'Only entries of this journal' },
    type: { kind: 'text', short: 't', value: 'TYPE', summary: 'Only entries of this type' },
    kind: {
      kind: 'text',
      short: 'k',
      value: 'KIND',
      summary: 'Only entries of journals of this kind',
    },
    meta: {
      kind: 'text',
      short: 'm',
      value: 'K=V',
      summary: 'Only entries of journals with this metadata',
    },
    actor: {
      kind: 'text',
      value: 'WHO',
      summary: 'Only entries by this actor, such as agent:alice or a key',
    },
    status: { kind: 'text', value: 'TEXT', summary: 'Only entries with this status' },
    subject: {
      kind: 'text',
      short: 's',
      value: 'TEXT',
      summary: 'Only entries about this subject',
    },
    label: { kind: 'text', value: 'K=V', summary: 'Only entries with this label' },
    since: { kind: 'text', value: 'TIME', summary: 'Only entries from this time on' },
    until: { kind: 'text', value: 'TIME', summary: 'Only entries before this time' },
    limit: { kind: 'count', short: 'n', value: 'N', summary: 'At most N (default: 100)' },
  },
  examples: [
    { command: 'cairn journal find --type deploy --status failed', does: 'failed deployments' },
    { command: 'cairn journal find --actor agent:alice --since 2026-11-02', does: 'by whom' },
  ],
  async run({ options, cli }) {
    const { journal, type, kind, meta, actor, status, subject, label, limit = 100 } = options
    const { journals } = await openWorkspace(cli, options)
    const filter = { journal, type, kind, meta, actor, status, subject, label }
    const since = parseTime('--since', options.since)
    const until = parseTime('--until', options.until)
    let left = limit
    if (left === 0) return
    for await (const entry of journals.find({ ...filter, since, until, signal: cli.signal })) {
      await printEntry(cli, entry, true)
      if (--left === 0) return
    }
  },
})
