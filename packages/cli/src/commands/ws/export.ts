import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { connectionOptions, findCredentials } from '../../context/credentials.ts'
import { readBundleEnds } from '../../bundle/read-bundle-ends.ts'
import { formatBytes } from '../../output/format.ts'
import { connect } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Write a workspace with its history into one file',
  description:
    'The bundle contains logs, trees, content, layers, checkpoints and journals as they are when the command\n' +
    'begins. Others can continue to write. FILE appears when it is complete. Secrets and tokens are not\n' +
    'included. Check a bundle anywhere with: cairn ws verify.',
  arguments: {
    name: { summary: 'The workspace' },
    file: { summary: 'The bundle, or - for standard output', optional: true },
  },
  options: {
    ...connectionOptions,
    since: { kind: 'text', value: 'FILE', summary: 'Leave out what this earlier bundle contains' },
  },
  examples: [
    { command: 'cairn ws export website website.cairn', does: 'the whole workspace' },
    { command: 'cairn ws export website | gzip', does: 'into a pipe' },
    {
      command: 'cairn ws export website tuesday.cairn --since monday.cairn',
      does: 'only what is new; import both together',
    },
  ],
  async run({ args: { name, file = '-' }, options, cli }) {
    const { signal } = cli
    const { since: earlier, ...connection } = options
    const since = earlier === undefined ? undefined : await readBundleEnds(earlier)
    const { workspaces } = connect(await findCredentials(cli, connection))
    const bundle = await workspaces.exportBundle(name, { since, signal })
    if (file === '-') {
      for await (const bytes of bundle) await cli.out.bytes(bytes)
      return
    }
    let bytes = 0
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of bundle) {
        bytes += chunk.length
        yield chunk
      }
    }
    const partial = `${file}.part`
    try {
      await pipeline(Readable.from(counted()), createWriteStream(partial), { signal })
      await rename(partial, file)
    } catch (error) {
      await rm(partial, { force: true })
      throw error
    }
    if (cli.isJson) await cli.out.json({ file, bytes })
    else await cli.out.line(`wrote ${file}: ${formatBytes(bytes)}`)
  },
})
