import { askControl } from '@cairn/mount/beside'
import type { Cli } from '../../cli.ts'
import { listMounts } from '../../mount/find-mount.ts'
import type { Remote } from '../../remote/open.ts'

const answerMs = 2000

/** Puts an error of background work into `.cairn/errors` of the mounts of this user that show the workspace. */
export async function tellMounts(
  cli: Cli,
  { workspace, server }: Remote,
  error: string,
): Promise<void> {
  const mounts = listMounts(cli).filter(
    (mount) => mount.isRunning && mount.server === server && mount.workspace === workspace.name,
  )
  const signal = AbortSignal.timeout(answerMs)
  await Promise.allSettled(
    mounts.map(({ directory }) =>
      askControl(directory, { command: 'note-error', error }, undefined, signal),
    ),
  )
}
