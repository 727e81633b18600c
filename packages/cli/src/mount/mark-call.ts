import { askControl } from '@cairn/mount/beside'
import { isToolCall } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { usageError } from '../errors.ts'
import { askStatus, requireRunning } from './control.ts'

export const callArguments = {
  id: { summary: 'The id of the call: 1 to 256 visible ASCII characters' },
  directory: { summary: 'The mount point' },
} as const

/** Begins or ends the tool call that all changes of a mount belong to. */
export async function markMount(
  cli: Cli,
  command: 'begin-call' | 'end-call',
  { id, directory }: { readonly id: string; readonly directory: string },
): Promise<void> {
  const isRight: boolean = isToolCall(id)
  if (!isRight)
    throw usageError(
      'mark the mount with a tool call',
      `its id has 1 to 256 visible ASCII characters; got '${id}'`,
      'Give the id that the model gave to the call.',
    )
  const state = await requireRunning(cli, directory)
  await askStatus(cli, state)
  const request = { command, toolCall: id }
  const changed = await askControl(state.directory, request, undefined, cli.signal)
  const { mountPoint } = state
  if (cli.isJson) await cli.out.json({ mountPoint, toolCall: id, changed })
  else if (command === 'begin-call')
    await cli.out.line(`changes of ${mountPoint} belong to ${id} now`)
  else
    await cli.out.line(
      changed === true
        ? `${id} has ended`
        : `${id} is not what changes of ${mountPoint} belong to; nothing has changed`,
    )
}
