import type { MountState } from '@cairn/mount/beside'
import type { CheckpointInfo } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { commandLine } from '../output/shell-words.ts'

/** Sorts by time, and needs no quotes. */
export function packLabel(now: Date): string {
  return `pack-${now.toISOString().slice(0, 19).replaceAll(':', '-')}`
}

export async function tellPacked(
  cli: Cli,
  checkpoint: CheckpointInfo,
  { workspace, path, mountPoint }: MountState,
): Promise<void> {
  if (cli.isJson) return cli.out.json(checkpoint)
  const label = checkpoint.label ?? checkpoint.id
  const source = Buffer.from(path, 'latin1').toString()
  await cli.out.line(`packed ${mountPoint}: everything is at the server, as checkpoint ${label}`)
  await cli.out.line(
    commandLine`go on in another sandbox: cairn mount --profile portable -w ${workspace} :${source} DIRECTORY`,
  )
}
