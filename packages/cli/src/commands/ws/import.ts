import { createReadStream } from 'node:fs'
import { access } from 'node:fs/promises'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Create a workspace from a bundle, with its history',
  description:
    'Files, history, layers and checkpoints keep their ids. Everything is checked first, and the workspace\n' +
    'appears when it is complete. A server can import a workspace only once; to get another copy, fork it.\n' +
    'Journals stay in the bundle, because their signing key stays with the old server: extract them with\n' +
    'cairn ws verify --journals.',
  arguments: {
    files: {
      summary: 'A bundle, followed by its incremental bundles; or - for standard input',
      many: true,
    },
  },
  options: {
    ...connectionOptions,
    as: { kind: 'text', value: 'NAME', summary: 'Name of the new workspace (default: its own)' },
  },
  examples: [
    { command: 'cairn ws import website.cairn', does: 'on the server of the current context' },
    {
      command: 'cairn ws import monday.cairn tuesday.cairn',
      does: 'a bundle and an incremental one',
    },
    { command: 'cairn ws import website.cairn --as website-2', does: 'under another name' },
  ],
  async run({ args: { files }, options, cli }) {
    const { as, ...connection } = options
    const { workspaces } = connect(await findCredentials(cli, connection))
    // Told before the request: later it would look like a connection that broke.
    await Promise.all(files.filter((file) => file !== '-').map((file) => access(file)))
    const open = async function* (): AsyncGenerator<Uint8Array> {
      for (const file of files)
        yield* file === '-' ? (cli.stdin as AsyncIterable<Uint8Array>) : createReadStream(file)
    }
    const workspace = await workspaces.importBundle(open, { as, signal: cli.signal })
    if (cli.isJson) return cli.out.json(workspace)
    await cli.out.line(`imported workspace ${workspace.name}`)
  },
})
