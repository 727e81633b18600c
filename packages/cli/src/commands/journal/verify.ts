import { createReadStream } from 'node:fs'
import { type JournalVerdict, type JournalWitness, verifyJournal } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { layerOptions } from '../../context/credentials.ts'
import type { Cli } from '../../cli.ts'
import { usageError } from '../../errors.ts'
import { openWorkspace, type WorkspaceValues } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Check that a journal is as it was written',
  description:
    'A name with a slash or .jsonl at its end is an export, - is standard input: checked here, without a server. Of a journal the\n' +
    'server checks what it has stored, and then the export is checked here. Everything hangs on the public key: note it once\n' +
    '(cairn journal export prints it) and pass it here. Otherwise a forger may have signed the journal with another key.',
  arguments: { journal: { summary: 'Its id, or a file' } },
  options: {
    ...layerOptions,
    'public-key': { kind: 'text', value: 'HEX', summary: 'The key it must be signed with' },
    receipt: {
      kind: 'text',
      value: 'SEQ:HASH',
      summary: 'An entry that it must have, as cairn journal append told it',
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
