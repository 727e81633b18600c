import { type ChangeReceipt, isCairnError } from '@cairn/sdk'
import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { openRemote, type Remote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Remove files, empty directories or whole trees',
  arguments: { path: { summary: 'The paths', many: true } },
  options: {
    ...fileOptions,
    recursive: { kind: 'flag', short: 'r', summary: 'Directories with everything in them' },
    force: { kind: 'flag', short: 'f', summary: 'A missing path is not an error' },
  },
  examples: [
    { command: 'cairn fs rm :/old.txt', does: 'a file' },
    { command: 'cairn fs rm -rf :/build :/dist', does: 'directories, if they are there' },
  ],
  async run({ args, options, cli }) {
    for (const path of args.path) {
      const remote = await openRemote(cli, options, path)
      const receipt = await remove(remote, options, cli.signal)
      if (cli.isJson)
        await cli.out.json({ path: remote.path, removed: receipt !== undefined, ...receipt })
    }
  },
})

/** Undefined when there was nothing to remove, and that is fine. */
async function remove(
  { files, path }: Remote,
  { recursive, force }: { readonly recursive: boolean; readonly force: boolean },
  signal: AbortSignal,
): Promise<ChangeReceipt | undefined> {
  try {
    return await files.remove(path, { recursive, signal })
  } catch (error) {
    if (force && isCairnError(error) && (error.errno === 'ENOENT' || error.errno === 'ENOTDIR'))
      return undefined
    throw error
  }
}
