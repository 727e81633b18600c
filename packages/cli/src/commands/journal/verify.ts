import { createReadStream } from 'node:fs'
import { type JournalVerdict, type JournalWitness, verifyJournal } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { workspaceOptions } from '../../context/credentials.ts'
import type { Cli } from '../../cli.ts'
import { usageError } from '../../errors.ts'
import { openWorkspace, type WorkspaceValues } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Verify that a journal is unchanged',
  description:
    'If JOURNAL contains a slash or ends with .jsonl, it is an exported file, and - is standard input: both\n' +
    'are checked here, without a server. For a journal on a server, the server checks what it has stored, and\n' +
    'this command checks its export. Pass the public key that cairn journal export printed. Without it, a\n' +
    'journal that was forged and signed with another key is not detected.',
  arguments: { journal: { summary: 'The id, or an exported file' } },
  options: {
    ...workspaceOptions,
    'public-key': {
      kind: 'text',
      value: 'HEX',
      summary: 'The public key that must have signed it',
    },
    receipt: {
      kind: 'text',
      value: 'SEQ:HASH',
      summary: 'An entry that it must contain, as cairn journal append printed it',
    },
  },
  examples: [
    { command: 'cairn journal verify run-42', does: 'on the server and here' },
    { command: 'cairn journal verify ./run-42.jsonl --public-key 5f0c', does: 'offline' },
  ],
  async run({ args: { journal }, options, cli }) {
    const publicKey = options['public-key']?.toLowerCase()
    const witness = { publicKey, receipt: parseReceipt(options.receipt) }
    const isFile = journal === '-' || journal.includes('/') || journal.endsWith('.jsonl')
    const verdict = isFile
      ? await verifyFile(cli, journal, witness)
      : await verifyOnline(cli, options, journal, witness)
    const keyChecked = publicKey !== undefined
    if (cli.isJson) return cli.out.json({ ...verdict, keyChecked })
    const { entries, head, sealed } = verdict
    const end = sealed ? ' sealed' : ''
    await cli.out.line(`ok journal=${verdict.journal} entries=${entries} head=${head}${end}`)
    if (keyChecked) return
    await cli.err.line(
      `warning: the public key was not checked: a forger could have signed it with ${verdict.publicKey}. If that is the key you noted, give it: --public-key KEY`,
    )
  },
})

function verifyFile(cli: Cli, file: string, witness: JournalWitness): Promise<JournalVerdict> {
  return verifyJournal(file === '-' ? cli.stdin : createReadStream(file), witness)
}

/** What is stored is the server's to look at, and what it says of itself is not believed. */
async function verifyOnline(
  cli: Cli,
  options: WorkspaceValues,
  journal: string,
  witness: JournalWitness,
): Promise<JournalVerdict> {
  const { journals } = await openWorkspace(cli, options)
  await journals.verifyStored(journal, { signal: cli.signal })
  return journals.verify(journal, { ...witness, signal: cli.signal })
}

function parseReceipt(text: string | undefined): JournalWitness['receipt'] {
  if (text === undefined) return undefined
  const [, seq, hash] = /^(\d{1,15}):([0-9a-fA-F]{64})$/.exec(text) ?? []
  if (hash !== undefined) return { seq: Number(seq), hash: hash.toLowerCase() }
  throw usageError(
    'read --receipt',
    'it is none',
    'Give SEQ:HASH, as cairn journal append told it.',
  )
}
