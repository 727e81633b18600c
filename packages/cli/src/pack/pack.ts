import type { MountState } from '@cairn/mount/beside'
import type { CheckpointInfo, Workspace } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import type { ConnectionValues } from '../context/credentials.ts'
import { usageError } from '../errors.ts'
import { handIn, requireRunning } from '../mount/control.ts'
import { commandLine } from '../output/shell-words.ts'
import { openRemote } from '../remote/open.ts'

/** The workspace that a mount shows. The key must be for its server. */
async function openSource(
  cli: Cli,
  options: ConnectionValues,
  { server, workspace, mountPoint }: MountState,
): Promise<Workspace> {
  const remote = await openRemote(cli, { ...options, workspace }, ':/')
  if (remote.server === server) return remote.workspace
  throw usageError(
    `pack ${mountPoint}`,
    `it is mounted from ${server}, and the context is for ${remote.server}`,
    'Give the context of that server: cairn pack --context NAME.',
  )
}

/** Brings everything to the server and makes a checkpoint of it. */
export async function packMount(
  cli: Cli,
  directory: string,
  options: ConnectionValues & { readonly label: string | undefined },
  timeoutMs: number | undefined,
): Promise<void> {
  const state = await requireRunning(cli, directory)
  await handIn(cli, state, 'drain', { timeoutMs })
  const { layers } = await openSource(cli, options, state)
  const label = options.label ?? packLabel(new Date())
  const checkpoint = await layers.checkpoint(state.branch, { label, signal: cli.signal })
  await tellPacked(cli, checkpoint, state)
}

/** Begins the labels of packs that were given none. */
export const packPrefix = 'pack-'

/** Sorts by time, and needs no quotes. */
function packLabel(now: Date): string {
  return `${packPrefix}${now.toISOString().slice(0, 19).replaceAll(':', '-')}`
}

async function tellPacked(
  cli: Cli,
  checkpoint: CheckpointInfo,
  { workspace, path, mountPoint }: MountState,
): Promise<void> {
  if (cli.isJson) return cli.out.json(checkpoint)
  const { label } = checkpoint
  const source = Buffer.from(path, 'latin1').toString()
  await cli.out.line(`packed ${mountPoint}: everything is at the server, as checkpoint ${label}`)
  await cli.out.line(
    commandLine`go on in another sandbox: cairn mount --profile portable -w ${workspace} :${source} DIRECTORY`,
  )
}
