import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Cairn } from '@cairn/sdk'
import { type MysqlServer, startMysql, waitUntil, whyNoMysql } from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServerProcesses } from './server-processes.ts'

describe.skipIf(whyNoMysql !== undefined)(
  `search on two servers with one MariaDB ${whyNoMysql ?? ''}`,
  () => {
    let mysql: MysqlServer
    let processes: ServerProcesses
    let one: Cairn
    let other: Cairn
    /** What the first server keeps of searches. */
    let index: string

    beforeAll(async () => {
      processes = await ServerProcesses.open()
      mysql = await startMysql()
      const meta = await mysql.createDatabase()
      const [first, second] = [await processes.start({ meta }), await processes.start({ meta })]
      one = new Cairn({ server: first.url, apiKey: first.apiKey })
      other = new Cairn({ server: second.url, apiKey: second.apiKey })
      index = join(first.data, 'search')
    }, 180_000)

    afterAll(async () => {
      await processes?.stop()
      await mysql?.stop()
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
      expect(existsSync(index)).toBe(true)
      await rm(index, { recursive: true })
      expect(await look(one)).toEqual(before)
      expect(await look(other)).toEqual(before)
    }, 120_000)
  },
)
