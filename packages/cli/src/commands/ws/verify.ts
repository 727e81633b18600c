import { createReadStream } from 'node:fs'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { formatBytes } from '../../output/format.ts'

export const command: Command = defineCommand({
  summary: 'Check a bundle, without a server',
  description:
    'As an import does: every record against the hash that follows it, every log along its chain, every node and blob against\n' +
    'its own hash, and that nothing is missing. A bundle that is damaged at any byte is refused.',
  arguments: {
    files: {
      summary: 'A bundle and then those that go on from it; or - for standard input',
      many: true,
    },
  },
  options: {},
  examples: [
    { command: 'cairn ws verify website.cairn', does: 'one bundle' },
    { command: 'cairn ws verify monday.cairn tuesday.cairn', does: 'a bundle and what came after' },
  ],
  async run({ args: { files }, cli }) {
    const { verifyBundles } = await import('@cairn/server')
    const read = async function* (): AsyncGenerator<Uint8Array> {
      for (const file of files)
        yield* file === '-' ? (cli.stdin as AsyncIterable<Uint8Array>) : createReadStream(file)
    }
    const { head, ...counts } = await verifyBundles(read())
    const { workspace, exportedAt, branches, checkpoints } = head
    if (cli.isJson)
      return cli.out.json({
        workspace: workspace.name,
        exportedAt,
        branches: branches.length,
        checkpoints: checkpoints.length,
        ...counts,
      })
    const { rows, nodes, blobs, bytes } = counts
    await cli.out.line(
      `whole: workspace ${workspace.name} of ${exportedAt}: ${branches.length} branches, ${checkpoints.length} checkpoints, ` +
        `${rows} batches, ${nodes} nodes and ${blobs} blobs in ${formatBytes(bytes)}`,
    )
  },
})
