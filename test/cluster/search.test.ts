import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { copyFile, mkdir, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { Cairn } from '@cairn/sdk'
import {
  makeTemporaryDirectory,
  type MysqlServer,
  removeDirectory,
  startMysql,
  waitUntil,
  whyNoMysql,
} from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'

const child = fileURLToPath(new URL('../mount/server-child.ts', import.meta.url))

describe.skipIf(whyNoMysql !== undefined)(
  `search on two servers with one MariaDB ${whyNoMysql ?? ''}`,
  () => {
    let mysql: MysqlServer
    let directory: string
    let meta: string
    const processes: ChildProcess[] = []
    let one: Cairn
    let other: Cairn

    const start = async (name: string): Promise<Cairn> => {
      const data = join(directory, name)
      await mkdir(data)
      if (name !== 'one')
        await copyFile(join(directory, 'one', 'owner-key'), join(data, 'owner-key'))
      // What the test stores is small, so it is in the database.
      const args = [child, data, '127.0.0.1:0', JSON.stringify({ meta })]
      const server = spawn(process.execPath, ['--conditions=source', ...args], {
        stdio: ['ignore', 'pipe', 'inherit'],
      })
      processes.push(server)
      const line = await new Promise<string>((resolve, reject) => {
        createInterface(server.stdout).once('line', resolve)
        server.once('exit', (code) => reject(new Error(`the server ended with ${code}`)))
      })
      const { url } = JSON.parse(line) as { url: string }
      const apiKey = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
      return new Cairn({ server: url, apiKey })
    }

    beforeAll(async () => {
      directory = await makeTemporaryDirectory()
      mysql = await startMysql()
      meta = await mysql.createDatabase()
      one = await start('one')
      other = await start('two')
    }, 180_000)

    afterAll(async () => {
      for (const server of processes) server.kill('SIGKILL')
      await mysql?.stop()
      await removeDirectory(directory)
    }, 60_000)

    interface Seen {
      readonly grepped: readonly string[]
      readonly ranked: readonly string[]
      readonly found: readonly string[]
      readonly rows: unknown
    }

    /** The same four questions to one server. */
    const look = async (cairn: Cairn, layer?: string): Promise<Seen> => {
      const main = cairn.workspace('w')
      const workspace = layer === undefined ? main : main.layer(layer)
      const [grepped, found]: string[][] = [[], []]
      for await (const { type, data } of workspace.grep('needle'))
        if (type === 'match' && 'text' in data.path)
          grepped!.push(`${data.path.text}:${data.line_number}`)
      for await (const { path } of workspace.find({ tag: ['round'] })) found!.push(path)
      const { results } = await workspace.search('needles')
      const { rows } = await workspace.sql('select path, hash, tags from files order by path')
      return { grepped: grepped!, found: found!, ranked: results.map(({ path }) => path), rows }
    }

    it('what one wrote the other finds at once, each with an index of its own or none', async () => {
      await one.workspaces.create('w')
      const { files, layers } = one.workspace('w')
      for (let at = 0; at < 20; at++)
        await files.write(`/d${at % 3}/f${at}`, `straw\n${at % 5 === 0 ? 'needle' : 'hay'}\n`)
      await look(one)
      await waitUntil('all is indexed', async () => {
        const { search } = await one.serverStatus()
        return search.contents > 0 && search.waiting === 0
      })
      await layers.create('/', { name: 'attempt' })
      for (let round = 0; round < 4; round++) {
        const [writer, reader] = round % 2 === 0 ? [one, other] : [other, one]
        const { files: main } = writer.workspace('w')
        await main.write('/fresh', 'needle\n'.repeat(round + 1), { tags: { round: `${round}` } })
        await main.write(`/d0/f${3 * round}`, 'hay\n')
        await writer.workspace('w').layer('attempt').files.write(`/a${round}`, `needle ${round}\n`)
        const [mine, theirs] = [await look(writer), await look(reader)]
        expect(theirs).toEqual(mine)
        expect(theirs.found).toEqual(['/fresh'])
        expect(theirs.grepped.filter((line) => line.startsWith('/fresh'))).toHaveLength(round + 1)
        expect(await look(reader, 'attempt')).toEqual(await look(writer, 'attempt'))
      }
      const before = await look(one)
      expect(existsSync(join(directory, 'one', 'search'))).toBe(true)
      await rm(join(directory, 'one', 'search'), { recursive: true })
      expect(await look(one)).toEqual(before)
      expect(await look(other)).toEqual(before)
    }, 120_000)
  },
)
