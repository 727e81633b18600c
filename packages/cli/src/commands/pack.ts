import { type Command, defineCommand } from '../arguments/command.ts'
import { connectionOptions } from '../context/credentials.ts'
import { handIn, requireRunning } from '../mount/control.ts'
import { parseTimeout, timeoutOption } from '../mount/duration.ts'
import { openSource, packLabel, tellPacked } from '../mount/pack.ts'

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
  async run({ options, cli }) {
    const timeoutMs = parseTimeout(options.timeout)
    const state = await requireRunning(cli, options.mount ?? '.')
    await handIn(cli, state, 'drain', { timeoutMs })
    const { layers } = await openSource(cli, options, state)
    const label = options.label ?? packLabel(new Date())
    const checkpoint = await layers.checkpoint(state.branch, { label, signal: cli.signal })
    await tellPacked(cli, checkpoint, state)
  },
})
