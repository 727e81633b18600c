import { type Command, defineCommand } from '../arguments/command.ts'
import { connectionOptions } from '../context/credentials.ts'
import { parseTimeout, timeoutOption } from '../mount/duration.ts'
import { packMount } from '../pack/pack.ts'

export const command: Command = defineCommand({
  summary: 'Send the local directories of a mount, and name the result',
  description:
    'Waits until everything is at the server, including what a profile keeps local, and makes a checkpoint.\n' +
    'Only changes since the last pack are sent. Programs can continue to write.',
  arguments: {},
  options: {
    ...connectionOptions,
    mount: { kind: 'text', value: 'DIR', summary: 'The mount point (default: this directory)' },
    label: { kind: 'text', value: 'TEXT', summary: 'Name of the checkpoint' },
    timeout: timeoutOption,
  },
  examples: [
    { command: 'cairn pack --mount ./work', does: 'before a sandbox is destroyed' },
    { command: 'cairn pack --mount ./work --label deps', does: 'with a name' },
  ],
  run: ({ options, cli }) =>
    packMount(cli, options.mount ?? '.', options, parseTimeout(options.timeout)),
})
