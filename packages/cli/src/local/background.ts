import { spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync, readFileSync, statSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import { thisProgram } from '../this-program.ts'
import { findHolder, findRunning, type LocalServer, logPath } from './running.ts'

/** Set for a server that another command started and waits for. */
const waitedForVariable = 'CAIRN_WAITED_FOR'

const pollMs = 20

export interface Started extends LocalServer {
  /** It was running before. */
  readonly wasRunning: boolean
}

/**
 * A server on that directory, in the background: the one that runs, or a new one that is ready. It outlives this command
 * and its terminal.
 */
export async function startInBackground(
  cli: Cli,
  data: string,
  words: readonly string[],
): Promise<Started> {
  const running = findRunning(data)
  if (running) return { ...running, wasRunning: true }
  mkdirSync(data, { recursive: true, mode: 0o700 })
  const log = openSync(logPath(data), 'a', 0o600)
  const before = statSync(logPath(data)).size
  const isReady = await spawnAndWait(cli, data, words, log).finally(() => closeSync(log))
  cli.signal.throwIfAborted()
  const server = isReady ? findRunning(data) : await untilQuicker(cli, data)
  const lines = readFileSync(logPath(data)).subarray(before).toString().trim().split('\n')
  if (server) {
    for (const line of lines) if (line.startsWith('warning: ')) await cli.err.line(line)
    return { ...server, wasRunning: !isReady }
  }
  // A bug is told with the lines of its stack behind it.
  const said = lines.findLast((line) => line.startsWith('cairn serve: ')) ?? lines.at(-1)
  throw cliError(
    'serve_failed',
    'start a server in the background',
    said?.replace(/^cairn serve: cannot /, 'it cannot ').replace(/\. Please report .*:$|\.$/, '') ||
      'it ended without a word',
    `See ${logPath(data)}.`,
  )
}

/** Another command may have been quicker: its server has the directory, and is ready soon. */
async function untilQuicker({ signal }: Cli, data: string): Promise<LocalServer | undefined> {
  for (;;) {
    const running = findRunning(data)
    const holder = findHolder(data)
    if (running || holder === undefined) return running
    await sleep(pollMs, undefined, { signal })
  }
}

/** False when it ended instead. Ctrl-C ends it, because then nothing waits for it any more. */
function spawnAndWait(
  cli: Cli,
  data: string,
  words: readonly string[],
  log: number,
): Promise<boolean> {
  const { file, args } = thisProgram('serve', '--data', data, ...words)
  const child = spawn(file, args, {
    detached: true,
    // Not where the user stands: that directory could not be unmounted as long as the server lives.
    cwd: data,
    stdio: ['ignore', log, log, 'ipc'],
    env: { ...cli.env, [waitedForVariable]: '1' },
  })
  const stop = (): void => void child.kill('SIGTERM')
  cli.signal.addEventListener('abort', stop, { once: true })
  return new Promise<boolean>((resolve, reject) => {
    child.once('message', () => resolve(true))
    child.once('exit', () => resolve(false))
    child.once('error', reject)
  }).finally(() => {
    cli.signal.removeEventListener('abort', stop)
    if (child.connected) child.disconnect()
    child.unref()
  })
}

/** Tells the command that started this server, if there is one, that it is ready. */
export async function tellReady(cli: Pick<Cli, 'env'>): Promise<void> {
  if (!cli.env[waitedForVariable] || !process.send) return
  // A command that was killed meanwhile hears nothing; the server stays.
  await new Promise<void>((resolve) => process.send!('ready', () => resolve()))
  if (process.connected) process.disconnect()
}
