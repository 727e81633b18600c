import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { askControl, type ControlReply } from '@cairn/mount'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { formatBytes } from '../output/format.ts'
import { mountPointOf, stateDirectory } from './places.ts'

/** Asks the daemon behind a mount point, and shows what it waits for. */
export async function askMount(
  cli: Cli,
  path: string,
  command: 'status' | 'drain' | 'unmount',
): Promise<Readonly<Record<string, unknown>>> {
  const mountPoint = mountPointOf(path)
  const directory = stateDirectory(cli, mountPoint)
  const what = `reach the mount at ${mountPoint}`
  if (!existsSync(join(directory, 'state.json')))
    throw cliError(
      'not_mounted',
      what,
      'nothing is mounted there',
      `Mount with: cairn mount :/ ${path}.`,
    )
  const show = ({ pendingOps, pendingBytes }: Waiting): void =>
    void cli.err.line(`waiting for ${pendingOps} operations, ${formatBytes(pendingBytes)}`)
  return (await askControl(directory, command, show, cli.signal)) as Record<string, unknown>
}

type Waiting = Extract<ControlReply, { readonly type: 'progress' }>
