import { createReadStream } from 'node:fs'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Make the workspace of a bundle, with its history',
  description:
    'Files, history, layers and checkpoints are what they were, under the same ids. Everything is checked before it is used, and\n' +
    'the workspace appears when it is whole. A server takes a workspace once: to get another copy, fork it.\n' +
    'Journals stay in the bundle, because the key that signs them does: take them out with cairn ws verify --journals.',
  arguments: {
    files: {
      summary: 'A bundle and then those that go on from it; or - for standard input',
      many: true,
    },
  },
  options: {
    ...connectionOptions,
    as: { kind: 'text', value: 'NAME', summary: 'The name it gets; its own unless given' },
  },
  examples: [
    { command: 'cairn ws import website.cairn', does: 'on the server of the present context' },
    { command: 'cairn ws import monday.cairn tuesday.cairn', does: 'a bundle and what came after' },
    { command: 'cairn ws import website.cairn --as website-2', does: 'under another name' },
  ],
  async run({ args: { files }, options, cli }) {
    const { as, ...connection } = options
    const { workspaces } = connect(await findCredentials(cli, connection))
    const open = async function* (): AsyncGenerator<Uint8Array> {
      for (const file of files)
        yield* file === '-' ? (cli.stdin as AsyncIterable<Uint8Array>) : createReadStream(file)
    }
    const workspace = await workspaces.importBundle(open, { as, signal: cli.signal })
    if (cli.isJson) return cli.out.json(workspace)
    await cli.out.line(`imported workspace ${workspace.name}`)
  },
})
