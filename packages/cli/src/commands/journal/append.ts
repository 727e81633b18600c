import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { readBatches } from '../../journal/entries.ts'
import { openWorkspace } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Append entries to a journal',
  description:
    'Reads one JSON object per line from standard input. Each has a type, and optionally summary, subjects,\n' +
    'labels, status, actor, source and occurredAt. Entries that arrive together are appended together, all or\n' +
    'none. The command prints the number and hash of what it appended. Keep them: with them, cairn journal\n' +
    'verify --receipt detects a truncated journal.',
  arguments: { journal: { summary: 'The id' } },
  options: {
    ...workspaceOptions,
    type: {
      kind: 'text',
      short: 't',
      value: 'TYPE',
      summary: 'Type of entries that have none',
    },
    source: { kind: 'text', value: 'TEXT', summary: 'Source of entries that have none' },
    subject: { kind: 'list', short: 's', value: 'TEXT', summary: 'Add this subject to each entry' },
    'idempotency-key': {
      kind: 'text',
      value: 'KEY',
      summary: 'Append the input once, however often it is sent under this key',
    },
    'json-array': { kind: 'flag', summary: 'The input is one JSON array' },
  },
  examples: [
    { command: 'echo \'{"type":"note"}\' | cairn journal append run-42', does: 'one entry' },
    { command: 'cairn journal append run-42 --idempotency-key ci-7', does: 'safe to repeat' },
  ],
  async run({ args: { journal }, options, cli }) {
    const { type, source, subject, 'json-array': isOneList, 'idempotency-key': key } = options
    const { journals } = await openWorkspace(cli, options)
    const defaults = { type, source, subjects: subject }
    const isWhole = key !== undefined
    let count = 0
    for await (const batch of readBatches(cli.stdin, defaults, { isOneList, isWhole })) {
      const idempotencyKey = key === undefined ? undefined : `${key}-${count}`
      const request = { idempotencyKey, signal: cli.signal }
      const receipt = await journals.append(journal, batch, request)
      count++
      const { first, last, hash } = receipt
      if (cli.isJson) await cli.out.json(receipt)
      else await cli.out.line(`${journal} ${first === last ? last : `${first}-${last}`} ${hash}`)
      await cli.out.flush()
    }
    if (count === 0)
      throw usageError(
        `append to ${journal}`,
        'standard input is empty',
        'Give one JSON object a line.',
      )
  },
})
