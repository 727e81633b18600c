import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { formatBytes } from '../../output/format.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: "Show a server's search index and its sessions",
  description:
    'Shows how many files the search index covers, its size on disk, and how many files are not indexed yet.\n' +
    'Each server has an index of its own below its data directory, and rebuilds it if it is deleted.\n' +
    'Sessions are mounts and other clients that follow a branch. One of several servers relays a session to the\n' +
    'server that has the other writers of its branch.',
  arguments: {},
  options: connectionOptions,
  examples: [{ command: 'cairn server status', does: 'size, progress and sessions' }],
  async run({ options, cli }) {
    const cairn = connect(await findCredentials(cli, options))
    const status = await cairn.serverStatus({ signal: cli.signal })
    if (cli.isJson) return cli.out.json(status)
    const { contents, bytes, waiting } = status.search
    const rest = waiting === 0 ? 'up to date' : `${waiting} files to go`
    await cli.out.line(`search index  ${contents} contents, ${formatBytes(bytes)} bytes, ${rest}`)
    const { open, relayed } = status.sessions
    await cli.out.line(`sessions      ${open} open, ${relayed} relayed to other servers`)
  },
})
