import { type Command, defineCommand } from '../arguments/command.ts'
import { connectionOptions } from '../context/credentials.ts'
import { packMount } from '../pack/pack.ts'
import { parseTimeout, timeoutOption } from '../mount/duration.ts'
import { endMount } from '../mount/end.ts'

export const command: Command = defineCommand({
  summary: 'Send everything to the server, then unmount',
  description:
    'The command shows what it waits for; Ctrl-C leaves the mount as it was. It also cleans up after a mount\n' +
    'that was killed.',
  arguments: { directory: { summary: 'The mount point' } },
  options: {
    ...connectionOptions,
    pack: { kind: 'text', value: 'LABEL', summary: 'First run cairn pack with this name' },
    'no-auto-pack': {
      kind: 'flag',
      summary:
        'Leave local directories unsent; they are kept here for the next mount at this place',
    },
    timeout: timeoutOption,
    force: {
      kind: 'flag',
      summary: 'Unmount without waiting, or after --timeout; unsent changes are kept and reported',
    },
  },
  examples: [
    { command: 'cairn umount ./work', does: 'when everything is at the server' },
    { command: 'cairn umount --pack deps ./work', does: 'and name the pack deps' },
    { command: 'cairn umount --no-auto-pack ./work', does: 'without node_modules and the like' },
    { command: 'cairn umount --timeout 30s --force ./work', does: 'after 30 s at the latest' },
  ],
  async run({ args, options, cli }) {
    const timeoutMs = parseTimeout(options.timeout)
    const { pack: label } = options
    if (label !== undefined) await packMount(cli, args.directory, { ...options, label }, timeoutMs)
    const { force: isForced, 'no-auto-pack': keepsLocal } = options
    await endMount(cli, args.directory, { timeoutMs, isForced, keepsLocal })
  },
})
