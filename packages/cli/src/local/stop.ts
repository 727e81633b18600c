import { setTimeout as sleep } from 'node:timers/promises'
import { isRunning } from '@cairn/mount/beside'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'
import type { LocalServer } from './running.ts'

const pollMs = 20
/** A server that closes answers what is under way, which takes as long as the slowest request. */
const endMs = 30_000

/** Ends a server as Ctrl-C would, and resolves when its process is gone. */
export async function stopServer(
  { signal }: Pick<Cli, 'signal'>,
  server: LocalServer,
): Promise<void> {
  if (!isRunning(server)) return
  process.kill(server.pid, 'SIGTERM')
  const deadline = performance.now() + endMs
  while (isRunning(server)) {
    signal.throwIfAborted()
    if (performance.now() > deadline)
      throw cliError(
        'serve_failed',
        `stop the server with process id ${server.pid}`,
        `it has not ended after ${endMs / 1000} s`,
        `End it with: kill -9 ${server.pid}. Nothing that it has acknowledged is lost.`,
      )
    await sleep(pollMs)
  }
}
