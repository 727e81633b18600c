import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Print files',
  description: 'With --json, the content is in "text", or in "base64" when it is not UTF-8.',
  arguments: { path: { summary: 'The files, printed one after the other', many: true } },
  options: {
    ...readerOptions,
    offset: { kind: 'count', value: 'N', summary: 'Skip N bytes' },
    length: { kind: 'count', value: 'N', summary: 'Print at most N bytes' },
  },
  examples: [
    { command: 'cairn fs cat :/plan.md', does: 'a file' },
    { command: 'cairn fs cat :/build.log --offset 1000000 --length 4096', does: 'a part of it' },
  ],
  async run({ args, options, cli }) {
    const { signal } = cli
    const range = { offset: options.offset, length: options.length, signal }
    for (const path of args.path) {
      const remote = await openRemote(cli, options, path)
      if (cli.isJson) {
        const bytes = await remote.files.read(remote.path, range)
        await cli.out.json({ path: remote.path, size: bytes.length, ...asText(bytes) })
        continue
      }
      const stream = await remote.files.readStream(remote.path, range)
      for await (const bytes of stream) await cli.out.bytes(bytes)
    }
  },
})

function asText(bytes: Uint8Array): { text: string } | { base64: string } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes) }
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return { base64: Buffer.from(bytes).toString('base64') }
  }
}
