import { rm } from 'node:fs/promises'
import { findLeftBehind } from '@cairn/mount/beside'
import type { LayerInfo } from '@cairn/sdk'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { mountAgain } from '../mount/describe.ts'
import { takeStarting } from '../mount/early-start.ts'
import { unsaid } from '../mount/ensure.ts'
import { prepareMount } from '../mount/prepare.ts'
import { findUsers } from '../mount/users.ts'
import type { WorkspaceValues } from '../remote/open.ts'
import type { WorkPlace } from './work-place.ts'

/** Mounts the layer for as long as this process needs it: nothing is copied, whatever its size. */
export async function openMount(
  cli: Cli,
  directory: string,
  layer: LayerInfo,
  values: WorkspaceValues,
): Promise<WorkPlace> {
  const cache = `${directory}.cache`
  const options = { ...unsaid, ...values, layer: layer.id, 'cache-dir': cache, 'tool-calls': true }
  const access = { 'read-only': false, 'allow-other': false }
  const starting = await takeStarting()
  const { config, undo } = await prepareMount(
    cli,
    { path: `:${layer.path}`, directory },
    { ...options, ...access },
  ).catch((error) => {
    starting.giveUp()
    throw error
  })
  const supervisor = await starting
    .supervise(cli, config, busyLine(cli, directory))
    .catch((error) => {
      undo()
      throw error
    })
  const stop = async (): Promise<void> => {
    supervisor.stop()
    await supervisor.ended
  }
  return {
    kind: 'mount',
    directory,
    finish: async () => {
      await stop()
      if (supervisor.givenUp === undefined) return
      const next = `Go on where it was with: ${mountAgain(config)}.`
      const what = `keep the mount at ${directory} running`
      throw cliError('mount_unhealthy', what, supervisor.givenUp, next)
    },
    remove: async () => {
      await stop()
      if (supervisor.givenUp !== undefined) await supervisor.cutOff()
      undo()
      // What was not sent stays there: the message says how to go on.
      if (findLeftBehind(config.cacheDirectory).operations === 0)
        await rm(cache, { recursive: true, force: true })
    },
  }
}

/** In a terminal, programs that the command started may live on: the layer is not complete before they end. */
function busyLine(cli: Cli, directory: string): (why: string) => void {
  let said = ''
  return (why) => {
    const users = findUsers(directory)
    const what =
      users.length > 0 ? `programs that the command left running: ${users.join(', ')}` : why
    if (what === said) return
    said = what
    void cli.err.line(`waiting for ${what}. What they write is kept; end them to go on`)
  }
}
