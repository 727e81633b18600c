import { type Command, defineCommand } from '../../arguments/command.ts'
import { callArguments, markMount } from '../../mount/mark-call.ts'

export const command: Command = defineCommand({
  summary: 'End the tool call that makes the changes of a mount',
  description: 'If another call has begun on the mount since, that one goes on.',
  arguments: callArguments,
  options: {},
  examples: [{ command: 'cairn tool-call end toolu_01 ./work', does: 'after the tool has run' }],
  run: ({ args, cli }) => markMount(cli, 'end-call', args),
})
