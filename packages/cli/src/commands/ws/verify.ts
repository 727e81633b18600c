import { createReadStream } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { formatBytes } from '../../output/format.ts'

export const command: Command = defineCommand({
  summary: 'Check a bundle, without a server',
  description:
    'Checks what an import checks: the hash of every record, node and blob, the chain of every log and\n' +
    'journal, and that nothing is missing. Damage at any byte is found.',
  arguments: {
    files: {
      summary: 'A bundle, followed by its incremental bundles; or - for standard input',
      many: true,
    },
  },
  options: {
    journals: {
      kind: 'text',
      value: 'DIR',
      summary: 'Extract its journals into this directory, for: cairn journal verify',
    },
  },
  examples: [
    { command: 'cairn ws verify website.cairn', does: 'one bundle' },
    {
      command: 'cairn ws verify monday.cairn tuesday.cairn',
      does: 'a bundle and an incremental one',
    },
    {
      command: 'cairn ws verify website.cairn --journals ./evidence',
      does: 'and extract the journals',
    },
  ],
  async run({ args: { files }, options: { journals: directory }, cli }) {
    const { verifyBundles } = await import('@cairn/server')
    const read = async function* (): AsyncGenerator<Uint8Array> {
      for (const file of files)
        yield* file === '-' ? (cli.stdin as AsyncIterable<Uint8Array>) : createReadStream(file)
    }
    const { head, ...counts } = await verifyBundles(read(), async (id, lines) => {
      if (directory === undefined) return
      await mkdir(directory, { recursive: true })
      await writeFile(join(directory, `${id}.jsonl`), lines.join(''))
    })
    const { workspace, exportedAt, branches, checkpoints } = head
    if (cli.isJson)
      return cli.out.json({
        workspace: workspace.name,
        exportedAt,
        branches: branches.length,
        checkpoints: checkpoints.length,
        ...counts,
      })
    const { rows, nodes, blobs, journals, bytes } = counts
    await cli.out.line(
      `whole: workspace ${workspace.name} of ${exportedAt}: ${branches.length} branches, ${checkpoints.length} checkpoints, ` +
        `${rows} batches, ${nodes} nodes, ${blobs} blobs and ${journals} journals in ${formatBytes(bytes)}`,
    )
  },
})
