// Layers on two servers that share a database. Files are small, so that all of them are in it.
import { Cairn, isCairnError, type Workspace } from '@cairn/sdk'
import { type MysqlServer, startMysql, whyNoMysql } from '@cairn/server/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { ServerProcesses } from './server-processes.ts'

describe.skipIf(whyNoMysql !== undefined)(
  `layers on two servers and one MariaDB ${whyNoMysql ?? ''}`,
  () => {
    let mysql: MysqlServer
    let processes: ServerProcesses
    const servers: Cairn[] = []

    beforeAll(async () => {
      processes = await ServerProcesses.open()
      mysql = await startMysql()
      const meta = await mysql.createDatabase()
      while (servers.length < 2) {
        const { url, apiKey } = await processes.start({ meta })
        servers.push(new Cairn({ server: url, apiKey }))
      }
    }, 180_000)

    afterAll(async () => {
      await processes?.stop()
      await mysql?.stop()
    }, 60_000)

    const open = async (name: string): Promise<[Workspace, Workspace]> => {
      await servers[0]!.workspaces.create(name)
      const [first, second] = servers.map((server) => server.workspace(name))
      await first!.files.write('/repo/a.txt', 'base\n')
      return [first!, second!]
    }

    const commits = async (workspace: Workspace): Promise<number> => {
      let count = 0
      for await (const { operations } of workspace.log())
        count += operations.filter(({ op }) => op.startsWith('commit')).length
      return count
    }

    it('what one makes, writes and names, the other finds', async () => {
      const [first, second] = await open('shared')
      const { id } = await first.layers.create('/repo', { name: 'try' })
      await second.layer('try').files.write('/repo/b.txt', 'b')
      await first.layers.checkpoint('try', { label: 'point' })
      await second.layer(id).files.write('/repo/b.txt', 'later')
      expect(await second.layer('try', { at: 'point' }).files.readText('/repo/b.txt')).toBe('b')
      await first.layers.rollback('try', { to: 'point' })
      expect(await second.layers.status('try')).toMatchObject({
        changes: [{ kind: 'added', path: '/repo/b.txt' }],
      })
      await second.layers.commit('try')
      expect(await first.layers.status('try')).toMatchObject({ state: 'committed' })
    })

    it('what one server did can be read on the other at once', async () => {
      const [first, second] = await open('fresh')
      await first.layers.create('/repo', { name: 'try' })
      const here = first.layer('try').files
      const there = second.layer('try').files
      for (let round = 0; round < 10; round++) {
        await here.write('/repo/a.txt', `round ${round}`)
        expect(await there.readText('/repo/a.txt')).toBe(`round ${round}`)
      }
      await first.layers.rollback('try')
      expect(await there.readText('/repo/a.txt')).toBe('base\n')
      await first.layers.undo('try')
      await first.layers.commit('try')
      expect(await second.files.readText('/repo/a.txt')).toBe('round 9')
    })

    it('one commit sent to both at once happens once, with one receipt', async () => {
      const [first, second] = await open('race')
      for (let round = 0; round < 5; round++) {
        const name = `try-${round}`
        await first.layers.create('/repo', { name })
        await first.layer(name).files.write(`/repo/${name}.txt`, name)
        const receipts = await Promise.all(
          [first, second, first, second].map(({ layers }) =>
            layers.commit(name, { idempotencyKey: `key-${round}` }),
          ),
        )
        expect(new Set(receipts.map((receipt) => JSON.stringify(receipt))).size).toBe(1)
        expect(await commits(second)).toBe(round + 1)
      }
    })

    it('two layers of one file committed on two servers: one gets in, the other is told', async () => {
      const [first, second] = await open('rivals')
      for (let round = 0; round < 5; round++) {
        const names = [`a${round}`, `b${round}`] as const
        for (const [index, workspace] of [first, second].entries()) {
          await workspace.layers.create('/repo', { name: names[index]! })
          await workspace.layer(names[index]!).files.write('/repo/a.txt', `${names[index]}\n`)
        }
        const outcomes = await Promise.allSettled([
          first.layers.commit(names[0]),
          second.layers.commit(names[1]),
        ])
        const refused = outcomes.filter((outcome) => outcome.status === 'rejected')
        expect(refused.length).toBe(1)
        expect(isCairnError(refused[0]!.reason, 'layer_conflict')).toBe(true)
        const winner = names[outcomes.findIndex(({ status }) => status === 'fulfilled')]!
        const status = await second.layers.status(winner)
        expect(status.state).toBe('committed')
        const { files } = first.layer(winner, { side: 'target' })
        expect(await files.readText('/repo/a.txt')).toBe(`${winner}\n`)
      }
    })

    it('layers of different files all get in, whichever server each asks', async () => {
      const [first, second] = await open('many')
      const names = Array.from({ length: 12 }, (_, index) => `n${index}`)
      await Promise.all(
        names.map(async (name, index) => {
          const { layers } = index % 2 === 0 ? first : second
          await layers.create('/repo', { name })
          await second.layer(name).files.write(`/repo/${name}.txt`, name)
        }),
      )
      await Promise.all(
        names.map((name, index) => (index % 3 === 0 ? first : second).layers.commit(name)),
      )
      expect(await commits(first)).toBe(names.length)
      const point = await first.layers.create('/repo', { name: 'after' })
      const after = first.layer(point.id).files
      for (const name of names) expect(await after.readText(`/repo/${name}.txt`)).toBe(name)
    })
  },
)
