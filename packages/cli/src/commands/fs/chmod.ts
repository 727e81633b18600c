import { type Command, defineCommand } from '../../arguments/command.ts'
import { fileOptions } from '../../context/credentials.ts'
import { usageError } from '../../errors.ts'
import { openRemote } from '../../remote/open.ts'

export const command: Command = defineCommand({
  summary: 'Set permissions',
  arguments: {
    mode: { summary: 'Mode in octal: 0644' },
    path: { summary: 'The files or directories', many: true },
  },
  options: fileOptions,
  examples: [{ command: 'cairn fs chmod 755 :/run.sh', does: 'make it executable' }],
  async run({ args: { mode, path: paths }, options, cli }) {
    if (!/^[0-7]{1,4}$/.test(mode))
      throw usageError(`set the mode ${mode}`, 'it is no octal number', 'Give something like 0644.')
    for (const path of paths) {
      const remote = await openRemote(cli, options, path)
      const receipt = await remote.files.chmod(remote.path, mode, { signal: cli.signal })
      if (cli.isJson) await cli.out.json({ path: remote.path, ...receipt })
    }
  },
})
