import { type Command, defineCommand } from '../../arguments/command.ts'
import { callArguments, markMount } from '../../mount/mark-call.ts'

export const command: Command = defineCommand({
  summary: 'Begin a tool call: from now on it makes the changes of a mount',
  description:
    'For agents that cannot give their commands the variable CAIRN_TOOL_CALL, such as from a hook before each tool. All that is\n' +
    'changed through the mount has the ID in log and blame, until it ends, another one begins, or the mount ends. A program\n' +
    'with a CAIRN_TOOL_CALL of its own keeps that on a mount made with --tool-calls.',
  arguments: callArguments,
  options: {},
  examples: [{ command: 'cairn tool-call begin toolu_01 ./work', does: 'before the tool runs' }],
  run: ({ args, cli }) => markMount(cli, 'begin-call', args),
})
