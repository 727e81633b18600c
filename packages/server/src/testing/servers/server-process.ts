import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, openSync, closeSync } from 'node:fs'
import { createServer } from 'node:net'
import { delimiter, join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { promisify } from 'node:util'

/** Servers that tests start: found, started and stopped by their process id, never by name. */

const directories = [...(process.env['PATH'] ?? '').split(delimiter), '/usr/sbin', '/sbin']

export function findProgram(name: string): string | undefined {
  return directories.map((each) => join(each, name)).find((path) => existsSync(path))
}

/** The first of these programs that is not installed. */
export function findMissingProgram(names: readonly string[]): string | undefined {
  return names.find((name) => findProgram(name) === undefined)
}

export interface ServerProcess {
  readonly pid: number
  hasEnded(): boolean
  /** Sends the signal and waits for the end. */
  end(signal: NodeJS.Signals): Promise<void>
}

export interface StartOptions {
  readonly env?: NodeJS.ProcessEnv
  readonly user?: string
  /** Where its output goes. */
  readonly output: string
}

/** Starts a program that stays in the foreground. It is killed when this process dies, however that happens. */
export function startServer(
  command: string,
  args: readonly string[],
  options: StartOptions,
): ServerProcess {
  const isRoot = process.getuid?.() === 0
  const identity = options.user && isRoot ? userArguments(options.user) : []
  const output = openSync(options.output, 'a')
  const program = findProgram(command) ?? command
  const setpriv = findProgram('setpriv') ?? 'setpriv'
  const child = spawn(setpriv, [...identity, '--pdeathsig', 'KILL', program, ...args], {
    env: { ...process.env, ...options.env },
    stdio: ['ignore', output, output],
  })
  closeSync(output)
  // Told by `hasEnded`; without a listener it would end this process.
  child.on('error', () => {})
  return serverProcess(child)
}

function serverProcess(child: ChildProcess): ServerProcess {
  const hasEnded = (): boolean =>
    child.pid === undefined || child.exitCode !== null || child.signalCode !== null
  return {
    pid: child.pid ?? 0,
    hasEnded,
    async end(signal) {
      if (hasEnded()) return
      const ended = once(child, 'exit')
      child.kill(signal)
      await ended
    },
  }
}

function userArguments(user: string): string[] {
  return ['--reuid', user, '--regid', 'nogroup', '--clear-groups']
}

export async function runProgram(
  command: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv = {},
): Promise<string> {
  const { stdout } = await promisify(execFile)(findProgram(command) ?? command, args, {
    env: { ...process.env, ...env },
    timeout: 30_000,
  })
  return stdout
}

export async function findFreePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  server.close()
  await once(server, 'close')
  if (typeof address === 'object' && address) return address.port
  throw new Error('a listening socket has no port')
}

const starts = 4
const startPauseMs = 5000

/** Large servers fail to start now and then, for as long as something else is in their way. Then it is theirs to show. */
export async function startInTheEnd<T>(start: () => Promise<T>): Promise<T> {
  for (let left = starts - 1; ; left--)
    try {
      return await start()
    } catch (error) {
      if (left === 0) throw error
      await setTimeout(startPauseMs)
    }
}
