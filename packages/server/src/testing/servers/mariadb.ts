import { readdirSync, readFileSync } from 'node:fs'
import { chown, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setImmediate } from 'node:timers/promises'
import mysql from 'mysql2/promise'
import { makeTemporaryDirectory, removeDirectory } from '../../conformance/temporary-directory.ts'
import { waitUntil } from '../wait-until.ts'
import {
  findFreePort,
  findMissingProgram,
  runProgram,
  type ServerProcess,
  startServer,
  startInTheEnd,
} from './server-process.ts'

const missing = findMissingProgram(['mariadbd', 'mariadb-install-db', 'setpriv'])

/** Why there can be none on this machine, for the title of what is skipped. */
export const whyNoMariadb: string | undefined =
  missing && `skipped: no ${missing}, install mariadb-server`

const user = 'nobody'

/** A real MariaDB on a directory and port of its own. */
export class MariadbServer {
  readonly port: number
  readonly #directory: string
  #process: ServerProcess

  private constructor(port: number, directory: string, process: ServerProcess) {
    this.port = port
    this.#directory = directory
    this.#process = process
  }

  static start(): Promise<MariadbServer> {
    return startInTheEnd(async () => {
      const directory = await makeTemporaryDirectory()
      const port = await findFreePort()
      try {
        await installData(directory)
        const server = new MariadbServer(port, directory, launch(directory, port))
        await server.#waitUntilReady()
        return server
      } catch (error) {
        await removeDirectory(directory)
        throw error
      }
    })
  }

  /** Makes an empty database and gives its URL. */
  async createDatabase(): Promise<string> {
    const name = `test_${crypto.randomUUID().replaceAll('-', '')}`
    await this.run(`CREATE DATABASE ${name}`)
    return `mysql://root@127.0.0.1:${this.port}/${name}`
  }

  async run(sql: string): Promise<void> {
    await this.#ask(sql)
  }

  async #ask(sql: string): Promise<unknown> {
    const connection = await mysql.createConnection({
      host: '127.0.0.1',
      port: this.port,
      user: 'root',
      connectTimeout: 2000,
    })
    try {
      return (await connection.query(sql))[0]
    } finally {
      connection.destroy()
    }
  }

  async listDatabases(): Promise<readonly string[]> {
    const rows = (await this.#ask('SHOW DATABASES')) as readonly { readonly Database: string }[]
    return rows.map(({ Database }) => Database)
  }

  /** As a power cut would, but for what the kernel still holds. */
  kill(): Promise<void> {
    return this.#process.end('SIGKILL')
  }

  async restart(): Promise<void> {
    await this.kill()
    this.#process = launch(this.#directory, this.port)
    await this.#waitUntilReady()
  }

  /** Resolves when none of its threads runs any more: they stop one after the other, and may still answer. */
  async freeze(): Promise<void> {
    const { pid } = this.#process
    process.kill(pid, 'SIGSTOP')
    const tasks = `/proc/${pid}/task`
    const isStopped = (task: string): boolean =>
      readFileSync(`${tasks}/${task}/stat`, 'latin1').split(') ')[1]!.startsWith('T')
    while (!readdirSync(tasks).every(isStopped)) await setImmediate()
  }

  thaw(): void {
    process.kill(this.#process.pid, 'SIGCONT')
  }

  async stop(): Promise<void> {
    await this.kill()
    await removeDirectory(this.#directory)
  }

  async #waitUntilReady(): Promise<void> {
    try {
      await waitUntil('MariaDB answers', async () => {
        if (this.#process.hasEnded()) throw new Error('mariadbd has ended')
        return this.run('SELECT 1').then(
          () => true,
          () => false,
        )
      })
    } catch (cause) {
      await this.kill()
      const output = await readFile(join(this.#directory, 'output'), 'utf8')
      throw new Error(`MariaDB did not start: ${output.slice(-2000)}`, { cause })
    }
  }
}

async function installData(directory: string): Promise<void> {
  const isRoot = process.getuid?.() === 0
  if (isRoot) {
    const ids = await Promise.all(['-u', '-g'].map((flag) => runProgram('id', [flag, user])))
    await chown(directory, Number(ids[0]), Number(ids[1]))
  }
  await runProgram('mariadb-install-db', [
    '--no-defaults',
    ...(isRoot ? [`--user=${user}`] : []),
    `--datadir=${join(directory, 'data')}`,
    '--auth-root-authentication-method=normal',
    '--skip-test-db',
  ])
}

function launch(directory: string, port: number): ServerProcess {
  const args = [
    '--no-defaults',
    `--datadir=${join(directory, 'data')}`,
    `--socket=${join(directory, 'socket')}`,
    `--pid-file=${join(directory, 'pid')}`,
    `--port=${port}`,
    '--bind-address=127.0.0.1',
    // Writes that io_uring has under way outlive a killed process. They would meet the recovery of the next one.
    '--skip-innodb-use-native-aio',
  ]
  return startServer('mariadbd', args, { user, output: join(directory, 'output') })
}
