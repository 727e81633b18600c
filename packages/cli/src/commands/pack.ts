import { type Command, defineCommand } from '../arguments/command.ts'
import { connectionOptions } from '../context/credentials.ts'
import { parseTimeout, timeoutOption } from '../mount/duration.ts'
import { packMount } from '../pack/pack.ts'

export const command: Command = defineCommand({
  summary: 'Send the local directories of a mount, and name the result',
  description:
    'Waits until everything is at the server, also what a profile keeps here, and makes a checkpoint of it. Only what\n' +
    'changed since the last pack travels. Programs may go on writing meanwhile.',
  arguments: {},
  options: {
    ...connectionOptions,
    mount: { kind: 'text', value: 'DIR', summary: 'The mount point; this directory unless given' },
    label: { kind: 'text', value: 'TEXT', summary: 'What to call the checkpoint' },
    timeout: timeoutOption,
  },
  examples: [
    { command: 'cairn pack --mount ./work', does: 'before the sandbox goes away' },
    { command: 'cairn pack --mount ./work --label deps', does: 'under a name of yours' },
  ],
  run: ({ options, cli }) =>
    packMount(cli, options.mount ?? '.', options, parseTimeout(options.timeout)),
})
