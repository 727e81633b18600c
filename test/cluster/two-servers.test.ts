import { type ChildProcess, spawn } from 'node:child_process'
import { copyFile, mkdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import {
  makeTemporaryDirectory,
  type MysqlServer,
  removeDirectory,
  startMysql,
  s3UrlOf,
  type S3Config,
  type S3Server,
  startS3,
  whyNoS3,
  whyNoMysql,
} from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const missing = whyNoMysql ?? whyNoS3
const child = fileURLToPath(new URL('./server-child.ts', import.meta.url))

interface Running {
  readonly process: ChildProcess
  readonly url: string
}

describe.skipIf(missing !== undefined)(
  `two servers on one MariaDB and one S3 ${missing ?? ''}`,
  () => {
    let mysql: MysqlServer
    let s3: S3Server
    let directory: string
    let meta: string
    let objects: string
    let config: S3Config
    let key: string
    const running: Running[] = []

    beforeAll(async () => {
      directory = await makeTemporaryDirectory()
      ;[mysql, s3] = await Promise.all([startMysql(), startS3()])
      meta = await mysql.createDatabase()
      config = await s3.createBucket()
      objects = s3UrlOf({ ...config, credentials: undefined })
    }, 180_000)

    afterAll(async () => {
      for (const { process: server } of running) server.kill('SIGKILL')
      await Promise.all([mysql?.stop(), s3?.stop()])
      await removeDirectory(directory)
    }, 60_000)

    /** The owner's key is a file in the data directory: the second server is given the first one's. */
    const start = async (name: string): Promise<Running> => {
      const data = join(directory, name)
      await mkdir(data)
      if (running[0]) await copyFile(join(directory, 'first', 'owner-key'), join(data, 'owner-key'))
      const { credentials } = config
      const env = {
        ...process.env,
        ...(credentials && {
          AWS_ACCESS_KEY_ID: credentials.accessKeyId,
          AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
        }),
      }
      const args = ['--conditions=source', child, data, meta, objects]
      const server = spawn(process.execPath, args, { env, stdio: ['ignore', 'pipe', 'inherit'] })
      const url = await new Promise<string>((resolve, reject) => {
        createInterface(server.stdout).once('line', resolve)
        server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
      })
      running.push({ process: server, url })
      key = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
      return running.at(-1)!
    }

    const ask = (server: Running, method: string, path: string, body?: string): Promise<Response> =>
      fetch(`${server.url}/v1/workspaces${path}`, {
        method,
        headers: { authorization: `Bearer ${key}` },
        ...(body === undefined ? {} : { body }),
      })

    it('writers on both, one killed in the middle: nothing acknowledged is missing, the other goes on', async () => {
      const first = await start('first')
      const second = await start('second')
      expect((await ask(first, 'POST', '', '{"name":"w"}')).status).toBe(201)
      const answered = new Map<string, string>()
      const write = async (server: Running, name: string, count: number): Promise<void> => {
        for (let i = 0; i < count; i++) {
          // Some are large enough to go to S3.
          const text = `${name} ${i} `.repeat(i % 10 === 9 ? 20_000 : 5)
          const answer = await ask(server, 'PUT', `/w/files/shared/${name}-${i}`, text)
          if (answer.ok) answered.set(`/shared/${name}-${i}`, text)
          if (name === 'a' && i === 20) first.process.kill('SIGKILL')
        }
      }
      const writers = [
        write(first, 'a', 1000).catch(() => undefined),
        write(first, 'b', 1000).catch(() => undefined),
        write(second, 'c', 60),
        write(second, 'd', 60),
      ]
      await Promise.all(writers)
      expect([...answered.keys()].filter((path) => /c|d/.test(path.slice(8))).length).toBe(120)
      expect(answered.size).toBeGreaterThan(140)
      const third = await start('third')
      for (const server of [second, third])
        for (const [path, text] of answered)
          expect([path, await (await ask(server, 'GET', `/w/files${path}`)).text()]).toEqual([
            path,
            text,
          ])
    }, 180_000)
  },
)
