import { type ChildProcess, spawn } from 'node:child_process'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { makeTemporaryDirectory, removeDirectory } from '@cairn/server/testing'

const child = fileURLToPath(new URL('./server-child.ts', import.meta.url))

export interface ServerProcess {
  readonly process: ChildProcess
  readonly url: string
  readonly data: string
  /** The same for all: the owner's key is a file in the data directory, and the others get the first one's. */
  readonly apiKey: string
}

/** Servers on the same stores, each in a process and with a data directory of its own. */
export class ServerProcesses {
  readonly #directory: string
  readonly #running: ServerProcess[] = []

  private constructor(directory: string) {
    this.#directory = directory
  }

  static async open(): Promise<ServerProcesses> {
    return new ServerProcesses(await makeTemporaryDirectory())
  }

  /** Without `objects`, all content must be small enough for the database. */
  async start(
    { meta, objects }: { readonly meta: string; readonly objects?: string },
    env: Readonly<Record<string, string>> = {},
  ): Promise<ServerProcess> {
    const [first] = this.#running
    const data = join(this.#directory, String(this.#running.length))
    await mkdir(data)
    if (first) await copyFile(join(first.data, 'owner-key'), join(data, 'owner-key'))
    const args = ['--conditions=source', child, data, meta, ...(objects ? [objects] : [])]
    const server = spawn(process.execPath, args, {
      env: { ...process.env, ...env },
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const url = await new Promise<string>((resolve, reject) => {
      createInterface(server.stdout).once('line', resolve)
      server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
    })
    const apiKey = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
    const running = { process: server, url, data, apiKey }
    this.#running.push(running)
    return running
  }

  async stop(): Promise<void> {
    for (const { process: server } of this.#running) server.kill('SIGKILL')
    await removeDirectory(this.#directory)
  }
}
