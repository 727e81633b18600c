import { createWriteStream } from 'node:fs'
import { rename, rm } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { readerOptions } from '../../context/credentials.ts'
import { ProgressBar } from '../../output/progress.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Write a directory as one tar archive',
  description:
    'The archive shows one moment, even if other clients are writing. It contains files, directories,\n' +
    'symlinks, hard links, permissions and times. FILE appears when it is complete. If its name ends with gz,\n' +
    'the archive is compressed.',
  arguments: {
    path: { summary: 'The directory, as :/path' },
    file: { summary: 'The archive, or - for standard output' },
  },
  options: {
    ...readerOptions,
    gzip: { kind: 'flag', short: 'z', summary: 'Compress it' },
  },
  examples: [
    { command: 'cairn fs archive :/repo repo.tar.gz', does: 'compressed, because of its name' },
    { command: 'cairn fs archive :/repo - | tar -t', does: 'into a pipe' },
    {
      command: 'cairn fs archive :/repo repo.tar --layer fix --at tests-pass',
      does: 'as it was at a checkpoint',
    },
  ],
  async run({ args: { path, file }, options, cli }) {
    const { signal } = cli
    const { files, path: directory } = await openRemote(cli, options, path)
    const gzip = options.gzip || file.endsWith('gz')
    const archive = await files.archive(directory, { gzip, signal })
    if (file === '-') {
      for await (const bytes of archive) await cli.out.bytes(bytes)
      return
    }
    const bar = new ProgressBar(cli)
    let bytes = 0
    const counted = async function* (): AsyncGenerator<Uint8Array> {
      for await (const chunk of archive) {
        bytes += chunk.length
        bar.add(chunk.length)
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
    } finally {
      await bar.clear()
    }
    if (cli.isJson) await cli.out.json({ file, bytes })
  },
})
