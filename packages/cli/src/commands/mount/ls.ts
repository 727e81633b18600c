import { type Command, defineCommand } from '../../arguments/command.ts'
import { describeSource } from '../../mount/describe.ts'
import { type ListedMount, listMounts } from '../../mount/find-mount.ts'
import { formatName } from '../../output/format.ts'

export const command: Command = defineCommand({
  summary: 'List the mounts of this user',
  arguments: {},
  options: {},
  examples: [{ command: 'cairn mount ls', does: 'also mounts whose process has died' }],
  async run({ cli }) {
    const mounts = listMounts(cli)
    if (cli.isJson) {
      for (const mount of mounts) await cli.out.json(mount)
      return
    }
    const { isTerminal } = cli.out
    const rows = mounts.map((mount) => [
      formatName(mount.mountPoint, isTerminal),
      formatName(describeSource(mount), isTerminal),
      mount.readOnly ? 'read-only' : 'read-write',
      howItIs(mount),
    ])
    await cli.out.table(rows)
  },
})

function howItIs({ isRunning, givenUp, supervisor }: ListedMount): string {
  if (isRunning) return `pid ${supervisor.pid}`
  return givenUp === undefined ? 'killed' : 'given up'
}
