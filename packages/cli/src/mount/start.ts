import { spawn } from 'node:child_process'
import { existsSync, openSync } from 'node:fs'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type { MountConfig, SupervisorReport } from '@cairn/mount'
import { toByteString } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { findCredentials } from '../context/credentials.ts'
import { cliError } from '../errors.ts'
import { findStat, openRemote, type WorkspaceValues } from '../remote/open.ts'
import { parseRemote } from '../remote/location.ts'
import { mountPointOf, stateDirectory } from './places.ts'
import { processCommand } from './processes.ts'

interface MountValues extends WorkspaceValues {
  readonly layer?: string | undefined
  readonly at?: string | undefined
  readonly 'read-only': boolean
  readonly foreground: boolean
  readonly 'allow-other': boolean
  readonly durability: MountConfig['durability'] | undefined
  readonly 'cache-dir': string | undefined
  readonly 'cache-size': number | undefined
}

const mib = 1 << 20
const cacheMib = 4096

export async function startMount(
  cli: Cli,
  args: { readonly path: string; readonly directory: string },
  options: MountValues,
): Promise<void> {
  const config = await prepare(cli, args, options)
  if (options.foreground) return runForeground(cli, config)
  await startSupervisor(config)
  if (cli.isJson) await cli.out.json({ mountPoint: config.mountPoint, workspace: config.workspace })
  else
    await cli.out.line(
      `mounted ${config.workspace}:${args.path.replace(/^[^:]*:/, '')} on ${config.mountPoint}; end it with: cairn umount ${args.directory}`,
    )
}

/** Makes what is missing at both ends. */
async function prepare(
  cli: Cli,
  args: { readonly path: string; readonly directory: string },
  options: MountValues,
): Promise<MountConfig> {
  const location = parseRemote(args.path)
  const remote = await openRemote(cli, options, location)
  const { apiKey } = await findCredentials(cli, {
    ...options,
    context: location.context ?? options.context,
  })
  await mkdir(args.directory, { recursive: true })
  const mountPoint = mountPointOf(args.directory)
  const directory = stateDirectory(cli, mountPoint)
  if (existsSync(join(directory, 'state.json'))) throw alreadyMounted(mountPoint, args.directory)
  const found = await findStat(remote, cli.signal)
  if (!found && !options['read-only'])
    await remote.files.mkdir(remote.path, { parents: true, signal: cli.signal })
  await mkdir(directory, { recursive: true, mode: 0o700 })
  return {
    mountPoint,
    server: remote.server,
    key: apiKey,
    workspace: remote.workspace.name,
    branch: options.layer ?? remote.workspace.branch ?? 'main',
    path: toByteString(new TextEncoder().encode(remote.path)),
    readOnly: options['read-only'],
    allowOther: options['allow-other'],
    durability: options.durability ?? 'auto',
    directory,
    cacheDirectory: join(options['cache-dir'] ?? directory, 'spool'),
    cacheBytes: (options['cache-size'] ?? cacheMib) * mib,
  }
}

/** Detached: it outlives this process, its terminal and its working directory. */
async function startSupervisor(config: MountConfig): Promise<void> {
  const { file, args } = processCommand('supervisor')
  const log = openSync(join(config.directory, 'daemon.log'), 'a', 0o600)
  const child = spawn(file, args, { detached: true, cwd: '/', stdio: ['pipe', 'pipe', log] })
  child.stdin!.end(JSON.stringify(config))
  const report = await firstReport(child.stdout!)
  if ('error' in report)
    throw cliError(
      'mount_failed',
      `mount on ${config.mountPoint}`,
      report.error,
      'See: cairn doctor.',
    )
  child.stdout!.destroy()
  child.unref()
}

function firstReport(stdout: NodeJS.ReadableStream): Promise<SupervisorReport> {
  return new Promise((resolve) => {
    const lines = createInterface(stdout)
    lines.once('line', (line) => resolve(JSON.parse(line) as SupervisorReport))
    lines.once('close', () => resolve({ error: 'the supervisor ended without a word' }))
  })
}

async function runForeground(cli: Cli, config: MountConfig): Promise<void> {
  const { Supervisor } = await import('@cairn/mount')
  const supervisor = new Supervisor(config, processCommand('daemon'))
  await supervisor.start()
  await supervisor.ready
  await cli.err.line(`mounted on ${config.mountPoint}; Ctrl-C unmounts`)
  cli.signal.addEventListener('abort', () => supervisor.stop())
  await supervisor.ended
}

function alreadyMounted(mountPoint: string, given: string): Error {
  const hint = `See: cairn mount status ${given}; end it with: cairn umount ${given}.`
  return cliError('mount_failed', `mount on ${mountPoint}`, 'something is mounted there', hint)
}
