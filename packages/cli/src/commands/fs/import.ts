import { createReadStream } from 'node:fs'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { ProgressBar } from '../../output/progress.ts'
import { openRemote } from '../../remote/open.ts'
import { isZip, tarOfZip } from '../../archive/zip.ts'

export const command: Command = defineCommand({
  summary: 'Unpack a tar or zip archive into a workspace, completely or not at all',
  description:
    'The contents of the archive go into the directory. Existing files are replaced, and other files stay.\n' +
    'Permissions, times, symlinks and hard links are kept; owners are not. Entries outside the directory are\n' +
    'refused. An interrupted command changes nothing. Gzip is detected.',
  arguments: {
    file: { summary: 'The archive, or - for a tar on standard input' },
    path: { summary: 'The directory, as :/path; created if it is missing' },
  },
  options: fileOptions,
  examples: [
    { command: 'cairn fs import repo.tar.gz :/repo', does: 'a compressed tar archive' },
    { command: 'cairn fs import site.zip :/site', does: 'a zip archive' },
    { command: 'git archive HEAD | cairn fs import - :/release', does: 'from a pipe' },
  ],
  async run({ args: { file, path }, options, cli }) {
    const { signal } = cli
    const { files, path: directory } = await openRemote(cli, options, path)
    const bar = new ProgressBar(cli)
    const isArchiveZip = file !== '-' && (await isZip(file))
    const open = async function* (): AsyncGenerator<Uint8Array> {
      const plain = file === '-' ? (cli.stdin as AsyncIterable<Uint8Array>) : createReadStream(file)
      for await (const chunk of isArchiveZip ? tarOfZip(file) : plain) {
        bar.add(chunk.length)
        yield chunk
      }
    }
    const receipt = await files.importTar(directory, open, { signal })
    await bar.clear()
    const { files: count, directories, bytes } = receipt
    if (cli.isJson) await cli.out.json(receipt)
    else await cli.out.line(`${count} files, ${directories} directories, ${bytes} bytes`)
  },
})
