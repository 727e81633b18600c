import { type Command, defineCommand } from '../../arguments/command.ts'
import { cliError } from '../../errors.ts'
import { formatName } from '../../output/format.ts'
import { existingPlacesOf, storeOptions } from '../../server-stores.ts'

/** A node of a base that a thousand layers share belongs to all of them. */
const namedMax = 10

export const command: Command = defineCommand({
  summary: 'Check all stored data against its hashes',
  description:
    'Reads every log, every tree and every byte. It replays each log in memory and compares the result with\n' +
    'the stored trees. It reports damage with the branches, checkpoints and files that it affects, and\n' +
    'changes nothing. Stop a server that keeps its data in a directory first.',
  arguments: {},
  options: storeOptions,
  examples: [{ command: 'cairn server check --data /srv/cairn', does: 'after a disk error' }],
  async run({ options, cli }) {
    const { checkStores, withStorage } = await import('@cairn/server')
    const report = await withStorage(existingPlacesOf(cli, options), checkStores)
    const { branches, batches, nodes, blobs, problems } = report
    if (cli.isJson) await cli.out.json(report)
    else {
      for (const { message, belongsTo } of problems) {
        await cli.out.line(`damaged: ${message}`)
        for (const owner of belongsTo.slice(0, namedMax))
          await cli.out.line(`  of ${formatName(owner, cli.out.isTerminal)}`)
        const more = belongsTo.length - namedMax
        if (more > 0) await cli.out.line(`  and of ${more} more: --json has them all`)
      }
      await cli.out.line(
        `read ${branches} branches, ${batches} batches, ${nodes} nodes and ${blobs} blobs: ${problems.length} problems`,
      )
    }
    if (problems.length === 0) return
    const hint =
      'Stop the server, keep the stores as they are, and restore what is named from a backup.'
    throw cliError(
      'damaged_store',
      'trust the stores',
      `${problems.length} problems were found`,
      hint,
    )
  },
})
