import type { MountConfig } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { shellWord } from '../output/shell-words.ts'
import { describeSource } from './describe.ts'
import { takeStarting } from './early-start.ts'
import { runForeground } from './foreground.ts'
import { type MountValues, prepareMount } from './prepare.ts'

interface StartValues extends MountValues {
  readonly foreground: boolean
}

export interface StartedMount {
  readonly config: MountConfig
  /** Operations that a killed mount left here: they go to the server now. */
  readonly leftOperations: number
}

export async function startMount(
  cli: Cli,
  args: { readonly path: string; readonly directory: string },
  options: StartValues,
): Promise<void> {
  const started = await beginMount(cli, args, options)
  if (!options.foreground) await tellMounted(cli, started, args.directory)
}

/** Resolves when the directory is usable; in the foreground, when it has ended. */
export async function beginMount(
  cli: Cli,
  args: { readonly path: string; readonly directory: string },
  options: StartValues,
): Promise<StartedMount> {
  const starting = options.foreground ? undefined : await takeStarting()
  const { config, leftOperations, undo } = await prepareMount(cli, args, options).catch((error) => {
    starting?.giveUp()
    throw error
  })
  try {
    if (leftOperations > 0) await cli.err.line(describeLeft(leftOperations))
    if (starting) await starting.begin(cli, config)
    else await runForeground(cli, config, 'daemon', describeSource(config))
  } catch (error) {
    undo()
    throw error
  }
  return { config, leftOperations }
}

export async function tellMounted(
  cli: Cli,
  { config, leftOperations }: StartedMount,
  directory: string,
): Promise<void> {
  const { mountPoint, workspace, branch, at, readOnly, cacheDirectory } = config
  if (cli.isJson)
    return cli.out.json({
      mountPoint,
      workspace,
      branch,
      at,
      readOnly,
      cacheDirectory,
      leftOperations,
    })
  const access = readOnly ? ', read-only' : ''
  await cli.out.line(
    `mounted ${describeSource(config)} on ${mountPoint}${access}; end it with: cairn umount ${shellWord(directory)}`,
  )
}

function describeLeft(operations: number): string {
  const what = operations === 1 ? '1 operation' : `${operations} operations`
  return `an earlier mount here was killed; ${what} that it had not handed in go to the server now`
}
