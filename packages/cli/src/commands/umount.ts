import { type Command, defineCommand } from '../arguments/command.ts'
import { connectionOptions } from '../context/credentials.ts'
import { packMount } from '../pack/pack.ts'
import { parseTimeout, timeoutOption } from '../mount/duration.ts'
import { endMount } from '../mount/end.ts'

export const command: Command = defineCommand({
  summary: 'Bring everything to the server, then unmount',
  description:
    'Says what it waits for; Ctrl-C leaves everything as it was. Where the mount was killed, what is left of it is taken away.',
  arguments: { directory: { summary: 'The mount point' } },
  options: {
    ...connectionOptions,
    pack: { kind: 'text', value: 'LABEL', summary: 'Pack it first under this name, as cairn pack' },
    timeout: timeoutOption,
    force: {
      kind: 'flag',
      summary: 'Do not wait, or not after --timeout; what is left is kept and told of',
    },
  },
  examples: [
    { command: 'cairn umount ./work', does: 'when everything is at the server' },
    { command: 'cairn umount --pack deps ./work', does: 'and call the result deps' },
    { command: 'cairn umount --timeout 30s --force ./work', does: 'and in any case after 30 s' },
  ],
  async run({ args, options, cli }) {
    const timeoutMs = parseTimeout(options.timeout)
    const { pack: label } = options
    if (label !== undefined) await packMount(cli, args.directory, { ...options, label }, timeoutMs)
    await endMount(cli, args.directory, { timeoutMs, isForced: options.force })
  },
})
