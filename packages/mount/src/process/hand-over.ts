import { spawn } from 'node:child_process'
import { closeSync, readFileSync, writeSync } from 'node:fs'
import { loadFuseIo } from '../fuse/native.ts'
import type { MountConfig } from './config.ts'
import { logPath } from './daemon-log.ts'
import { type DaemonCommand, DaemonProcess, socketPair } from './daemon-process.ts'
import { findStandby } from './standby.ts'
import { markProcess, writeState } from './state.ts'
import type { Supervisor, UsableMount } from './supervisor.ts'

/** Where a process that takes over has what it takes over. */
const descriptors = { fuse: 3, channel: 4, output: 5, memory: 6, guard: 7 } as const

/** What it is told, over its standard input. */
interface Inheritance {
  readonly config: MountConfig
  readonly init: unknown
  readonly daemonPid: number
}

/**
 * Has a new process supervise a usable mount from now on, and does not wait for it: the descriptors are its own as soon
 * as there is such a process, so nothing is lost while it loads. A daemon that ends meanwhile is replaced then. Where it
 * can, the new process stands by in C, and becomes the one of the command when it is needed. Rejects when it cannot be
 * started; this process is then still the supervisor.
 */
export async function handOver(
  supervisor: Supervisor,
  config: MountConfig,
  command: DaemonCommand,
): Promise<void> {
  const [io, standby] = await Promise.all([loadFuseIo(), findStandby()])
  const { fd, memory, guard, init, daemon } = supervisor.usable
  const { pid, channel, output } = daemon.started
  const [ours, theirs] = socketPair(io)
  const inheritance: Inheritance = { config, init, daemonPid: pid }
  writeSync(ours, JSON.stringify(inheritance))
  closeSync(ours)
  const { file, args } = standby === undefined ? command : standBy(standby, config, pid, command)
  const child = spawn(file, args, {
    detached: true,
    cwd: '/',
    stdio: [theirs, 'ignore', 'ignore', fd, channel, output, memory, guard ?? 'ignore'],
  })
  closeSync(theirs)
  child.unref()
  const failed = new Promise<Error>((resolve) => child.once('error', resolve))
  if (child.pid === undefined)
    throw new Error(`cannot start its supervisor: ${(await failed).message}`)
  supervisor.leave()
  try {
    writeState(config, { daemonPid: pid, supervisorPid: child.pid })
  } catch {
    // The disk is full; the new one writes it as soon as it can.
  }
}

/** The same command, by way of native/standby.c. */
function standBy(
  program: string,
  { directory }: MountConfig,
  daemonPid: number,
  { file, args }: DaemonCommand,
): DaemonCommand {
  const startedAt = markProcess(daemonPid)?.startedAt ?? 'never'
  return { file: program, args: [`${daemonPid}`, startedAt, logPath(directory), file, ...args] }
}

/** In the process that takes over. */
export async function inherit(): Promise<{
  readonly config: MountConfig
  readonly mount: UsableMount
}> {
  const { config, init, daemonPid } = JSON.parse(readFileSync(0, 'utf8')) as Inheritance
  const { fuse: fd, channel, output, memory, guard } = descriptors
  const daemon = new DaemonProcess({ pid: daemonPid, channel, output }, await loadFuseIo())
  return { config, mount: { fd, memory, guard, init, daemon } }
}
