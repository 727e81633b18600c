import { type MountConfig, Supervisor } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { shellWord } from '../output/shell-words.ts'
import { describeSource } from './describe.ts'
import { type MountValues, prepareMount } from './prepare.ts'
import { processCommand } from './processes.ts'
import { StartingMount } from './starting-mount.ts'

interface StartValues extends MountValues {
  readonly foreground: boolean
}

export async function startMount(
  cli: Cli,
  args: { readonly path: string; readonly directory: string },
  options: StartValues,
): Promise<void> {
  const starting = options.foreground ? undefined : new StartingMount()
  const { config, leftOperations, undo } = await prepareMount(cli, args, options).catch((error) => {
    starting?.giveUp()
    throw error
  })
  try {
    if (leftOperations > 0) await cli.err.line(describeLeft(leftOperations))
    if (!starting) return await runForeground(cli, config)
    await starting.begin(cli, config)
  } catch (error) {
    undo()
    throw error
  }
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
    `mounted ${describeSource(config)} on ${mountPoint}${access}; end it with: cairn umount ${shellWord(args.directory)}`,
  )
}

function describeLeft(operations: number): string {
  const what = operations === 1 ? '1 operation' : `${operations} operations`
  return `an earlier mount here was killed; ${what} that it had not handed in go to the server now`
}

async function runForeground(cli: Cli, config: MountConfig): Promise<void> {
  const supervisor = new Supervisor(config, processCommand('daemon'))
  cli.signal.addEventListener('abort', () => supervisor.stop())
  await supervisor.start()
  await supervisor.ready
  await cli.err.line(`mounted ${describeSource(config)} on ${config.mountPoint}; Ctrl-C unmounts`)
  await cli.err.flush()
  await supervisor.ended
}
