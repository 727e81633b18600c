import {
  type MysqlServer,
  startMysql,
  s3UrlOf,
  type S3Config,
  type S3Server,
  startS3,
  whyNoS3,
  whyNoMysql,
} from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type ServerProcess, ServerProcesses } from './server-processes.ts'

const missing = whyNoMysql ?? whyNoS3

describe.skipIf(missing !== undefined)(
  `two servers on one MariaDB and one S3 ${missing ?? ''}`,
  () => {
    let mysql: MysqlServer
    let s3: S3Server
    let processes: ServerProcesses
    let meta: string
    let objects: string
    let config: S3Config

    beforeAll(async () => {
      processes = await ServerProcesses.open()
      ;[mysql, s3] = await Promise.all([startMysql(), startS3()])
      meta = await mysql.createDatabase()
      config = await s3.createBucket()
      objects = s3UrlOf({ ...config, credentials: undefined })
    }, 180_000)

    afterAll(async () => {
      await processes?.stop()
      await Promise.all([mysql?.stop(), s3?.stop()])
    }, 60_000)

    const start = (): Promise<ServerProcess> => {
      const { credentials } = config
      const env = credentials && {
        AWS_ACCESS_KEY_ID: credentials.accessKeyId,
        AWS_SECRET_ACCESS_KEY: credentials.secretAccessKey,
      }
      return processes.start({ meta, objects }, env)
    }

    const ask = (
      server: ServerProcess,
      method: string,
      path: string,
      body?: string,
    ): Promise<Response> =>
      fetch(`${server.url}/v1/workspaces${path}`, {
        method,
        headers: { authorization: `Bearer ${server.apiKey}` },
        ...(body === undefined ? {} : { body }),
      })

    it('writers on both, one killed in the middle: nothing acknowledged is missing, the other goes on', async () => {
      const first = await start()
      const second = await start()
      expect((await ask(first, 'POST', '', '{"name":"w"}')).status).toBe(201)
      const answered = new Map<string, string>()
      const write = async (server: ServerProcess, name: string, count: number): Promise<void> => {
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
      const third = await start()
      for (const server of [second, third])
        for (const [path, text] of answered)
          expect([path, await (await ask(server, 'GET', `/w/files${path}`)).text()]).toEqual([
            path,
            text,
          ])
    }, 180_000)
  },
)
