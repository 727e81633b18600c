import { type ChildProcess, fork } from 'node:child_process'
import { once } from 'node:events'

/** A server in a process of its own. */
export interface Running {
  readonly url: string
  readonly key: string
  readonly process: ChildProcess
}

export async function startServer(
  data: string,
  execArgv: readonly string[] = [],
): Promise<Running> {
  const child = fork(new URL('./server-child.ts', import.meta.url), [data], {
    execArgv: ['--conditions=source', '--expose-gc', ...execArgv],
  })
  const [{ url, ownerKey }] = (await once(child, 'message')) as [{ url: string; ownerKey: string }]
  return { url, key: ownerKey, process: child }
}

export async function stopServer(server: Running): Promise<void> {
  const { process } = server
  const exited = once(process, 'exit')
  process.send('close')
  // It has closed everything, and a thread that is still there would keep it alive.
  await once(process, 'disconnect')
  process.kill()
  await exited
}

/** Asks the server's process for one of the figures that `server-child.ts` knows. */
export async function askProcess<T>(server: Running, figure: 'memory' | 'delay'): Promise<T> {
  server.process.send(figure)
  const [answer] = (await once(server.process, 'message')) as [T]
  return answer
}
