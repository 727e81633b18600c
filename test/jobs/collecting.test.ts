// Garbage is collected all the while others write, commit, roll back and delete: nothing that can be reached goes.
import { Blobs, Nodes, type Stores } from '@cairn/core'
import { type CollectReport, isCairnError } from '@cairn/protocol'
import {
  buildApp,
  checkStores,
  type Clock,
  Collector,
  contentWorker,
  hashSecret,
  type KeepTimes,
  Metrics,
  openStorage,
  sha256,
  type Storage,
  systemClock,
  WorkspaceKeeper,
} from '@cairn/server'
import {
  makeTemporaryDirectory,
  type MysqlServer,
  removeDirectory,
  startMysql,
  whyNoMysql,
} from '@cairn/server/testing'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'

const keep: KeepTimes = { graceMs: 400_000, retentionMs: 600_000 }
const stepsEach = Math.ceil(100 * Number(process.env['CAIRN_RUNS'] ?? 1))
const secret = 'a-secret-for-tests'

let data: string
let storage: Storage

afterEach(async () => {
  await storage.close()
  await removeDirectory(data)
})

describe('collecting beside writers', () => {
  it('on SQLite, reachable content stays, and the rest is deleted', async () => {
    data = await makeTemporaryDirectory()
    storage = await openStorage({ data })
    await playAll(1)
  }, 240_000)
})

describe.skipIf(whyNoMysql !== undefined)(`on MariaDB ${whyNoMysql ?? ''}`, () => {
  let mysql: MysqlServer
  beforeAll(async () => {
    mysql = await startMysql()
  }, 180_000)
  afterAll(() => mysql?.stop(), 60_000)

  it('what can be reached stays, the rest goes', async () => {
    data = await makeTemporaryDirectory()
    storage = await openStorage({ data, meta: await mysql.createDatabase() })
    await playAll(2)
  }, 240_000)
})

/** Two servers, four writers, two collectors that die now and then, and a clock that waits for all of them. */
async function playAll(seed: number): Promise<void> {
  const clock = new TickingClock()
  const servers = [new TestServer(storage, clock), new TestServer(storage, clock)]
  await servers[0]!.call('POST', '', { name: 'w' })
  const writers = [0, 1, 2, 3].map(
    (index) => new Writer(servers[index % 2]!, index, randomFrom(seed * 10 + index)),
  )
  let isOver = false
  const collecting = [0, 1].map((index) =>
    collectUntil(() => isOver, clock, randomFrom(seed * 100 + index)),
  )
  const ticking = tickUntil(() => isOver, clock, servers, writers)
  try {
    await Promise.all(writers.map((writer) => writer.work()))
  } finally {
    isOver = true
    await Promise.all([...collecting, ticking])
  }
  const removed = (await Promise.all(collecting)).flat()
  expect(removed.length).toBeGreaterThan(2)
  expect(sum(removed, 'nodes')).toBeGreaterThan(0)
  expect((await checkStores(storage)).problems).toEqual([])

  clock.tick(10 * keep.retentionMs)
  const last = new Collector(storage, { ...keep, nowMs: () => clock.nowMs() })
  removed.push(await last.run({ dryRun: false }))
  clock.tick(10 * keep.graceMs)
  removed.push(await last.run({ dryRun: false }))
  expect(sum(removed, 'blobs')).toBeGreaterThan(0)
  expect((await checkStores(storage)).problems).toEqual([])
  expect((await last.run({ dryRun: true })).waiting).toMatchObject({
    nodes: { count: 0 },
    blobs: { count: 0 },
  })
  // Nothing of it is in memory.
  const fresh = new TestServer(storage, clock)
  for (const writer of writers) await writer.compare(fresh)
}

function sum(reports: readonly CollectReport[], kind: 'nodes' | 'blobs'): number {
  return reports.reduce((count, { removed }) => count + removed[kind].count, 0)
}

async function collectUntil(
  isOver: () => boolean,
  clock: Clock,
  random: () => number,
): Promise<readonly CollectReport[]> {
  const reports: CollectReport[] = []
  const step = async (): Promise<void> => {
    await clock.sleep(1)
    if (random() < 0.005) throw new Error('killed')
  }
  let collector: Collector | undefined
  while (!isOver()) {
    collector ??= new Collector(storage, { ...keep, nowMs: () => clock.nowMs(), step })
    try {
      reports.push(await collector.run({ dryRun: false }))
    } catch (error) {
      collector = undefined
      // The other one may take away what this one has begun to walk through.
      const isExpected = isCairnError(error, 'node_missing') || /killed/.test(String(error))
      if (!isExpected) throw error
    }
  }
  return reports
}

/** A tick is a quarter of the grace time, and no piece of work sees more than two of them. */
async function tickUntil(
  isOver: () => boolean,
  clock: TickingClock,
  servers: readonly TestServer[],
  writers: readonly Writer[],
): Promise<void> {
  while (!isOver()) {
    const before = writers.map(({ steps }) => steps)
    clock.tick(keep.graceMs / 4)
    for (const { workspaces } of servers) await workspaces.renew()
    while (!isOver() && writers.some(({ steps, isDone }, i) => !isDone && steps === before[i]))
      await clock.sleep(1)
  }
}

class TickingClock implements Clock {
  readonly #system = systemClock()
  #aheadMs = 0

  nowMs(): number {
    return this.#system.nowMs() + this.#aheadMs
  }

  sleep(ms: number): Promise<void> {
    return this.#system.sleep(ms)
  }

  now(): ReturnType<Clock['now']> {
    const { sec, nsec } = this.#system.now()
    return { sec: sec + Math.floor(this.#aheadMs / 1000), nsec }
  }

  tick(ms: number): void {
    this.#aheadMs += Math.ceil(ms / 1000) * 1000
  }
}

class TestServer {
  readonly workspaces: WorkspaceKeeper
  readonly #app: ReturnType<typeof buildApp>

  constructor(on: Storage, clock: Clock) {
    const pools = new Map<string, Stores>()
    const storesOf = (pool: string): Stores => {
      let stores = pools.get(pool)
      if (!stores) {
        // Next to nothing in memory: what is gone is missed at once.
        const nodes = new Nodes({ store: on.nodes(pool), hash: sha256, cacheBytesMax: 1 })
        const blobs = new Blobs(on.blobs(pool), contentWorker)
        pools.set(pool, (stores = { nodes, blobs, log: on.log, refs: on.refs }))
      }
      return stores
    }
    this.workspaces = new WorkspaceKeeper({
      directory: on.workspaces,
      storesOf,
      clock,
      leases: { store: on.leases, notes: on.sessionNotes, clock, leaseMs: 10_000, lookMs: 10 },
      locks: on.locks,
      layers: on.layers,
      isShared: true,
      keep,
    })
    this.#app = buildApp({
      workspaces: this.workspaces,
      uploads: on.uploads,
      findKey: async (hash) =>
        Buffer.from(hash).equals(hashSecret(secret)) ? { id: 'key_1', owner: 'o' } : undefined,
      metrics: new Metrics(),
      checkReady: async () => {},
    })
  }

  /** Refusals are answers; what fails inside of the server is not. */
  async call(
    method: 'GET' | 'PUT' | 'POST' | 'DELETE',
    url: string,
    payload?: string | object,
  ): Promise<{ readonly status: number; readonly body: string }> {
    const answer = await this.#app.inject({
      method,
      url: `/v1/workspaces${url}`,
      headers: { authorization: `Bearer ${secret}` },
      ...(payload === undefined ? {} : { payload }),
    })
    expect(answer.statusCode, `${method} ${url}: ${answer.body.slice(0, 300)}`).toBeLessThan(500)
    return { status: answer.statusCode, body: answer.body }
  }
}

/** Works on files and layers of its own, in a workspace that all share, with contents that all share. */
class Writer {
  steps = 0
  isDone = false
  readonly #server: TestServer
  readonly #index: number
  readonly #random: () => number
  readonly #files = new Map<string, string>()
  #layers: string[] = []
  #count = 0

  constructor(server: TestServer, index: number, random: () => number) {
    this.#server = server
    this.#index = index
    this.#random = random
  }

  async work(): Promise<void> {
    try {
      for (let step = 0; step < stepsEach; step++) {
        await this.#step()
        this.steps++
      }
      await this.compare(this.#server)
    } finally {
      this.isDone = true
    }
  }

  async compare(server: TestServer): Promise<void> {
    for (const [path, text] of this.#files) {
      const { status, body } = await server.call('GET', `/w/files${path}`)
      expect([path, status, body.slice(0, 20)]).toEqual([path, 200, text.slice(0, 20)])
    }
  }

  async #step(): Promise<void> {
    const dice = Math.floor(this.#random() * 100)
    if (dice < 35) return this.#writeMain()
    if (dice < 45 || this.#layers.length === 0) return this.#makeLayer()
    const layer = this.#layers[Math.floor(this.#random() * this.#layers.length)]!
    const url = `/w/layers/${layer}`
    if (dice < 60) await this.#writeTo(layer)
    else if (dice < 66) await this.#post(`${url}/checkpoints`, { label: this.#label() })
    else if (dice < 69) await this.#server.call('DELETE', `${url}/checkpoints/tests-pass`)
    else if (dice < 74) await this.#post(`${url}/rollback`, {})
    else if (dice < 77) await this.#post(`${url}/undo`, {})
    else if (dice < 80) await this.#post(`${url}/rebase`, {})
    else if (dice < 83) await this.#server.call('GET', url)
    else if (dice < 87) await this.#fork(layer)
    else await this.#end(layer, dice)
  }

  async #writeMain(): Promise<void> {
    const path = `/main-${this.#index}/f${Math.floor(this.#random() * 6)}`
    const text = this.#text()
    const { status } = await this.#server.call('PUT', `/w/files${path}?parents`, text)
    expect(status).toBeLessThan(300)
    this.#files.set(path, text)
  }

  async #writeTo(layer: string): Promise<void> {
    const path = `/layer-${this.#index}/f${Math.floor(this.#random() * 6)}`
    await this.#server.call('PUT', `/w/files${path}?parents&layer=${layer}`, this.#text())
  }

  async #makeLayer(): Promise<void> {
    const name = `l${this.#index}-${this.#count++}`
    await this.#post('/w/layers', { name, path: '/' })
    this.#layers.push(name)
    await this.#writeTo(name)
    if (this.#layers.length > 3) await this.#end(this.#layers[0]!, 99)
  }

  async #fork(layer: string): Promise<void> {
    const name = `fork-${this.#index}-${this.#count++}`
    await this.#post(`/w/fork?layer=${layer}`, { name })
    await this.#server.call('GET', `/${name}/files/main-${this.#index}/f0`)
    await this.#server.call('DELETE', `/${name}`)
  }

  async #end(layer: string, dice: number): Promise<void> {
    this.#layers = this.#layers.filter((other) => other !== layer)
    if (dice < 92) return this.#post(`/w/layers/${layer}/commit`, {})
    if (dice < 96) return this.#post(`/w/layers/${layer}/abandon`, {})
    await this.#server.call('DELETE', `/w/layers/${layer}?cascade`)
  }

  async #post(url: string, body: object): Promise<void> {
    await this.#server.call('POST', url, body)
  }

  #label(): string {
    return this.#random() < 0.2 ? 'tests-pass' : ''
  }

  /**
   * Contents come into fashion, are forgotten and come again: what one drops another is about to need. Some are too
   * large for the log and the database.
   */
  #text(): string {
    const kind = (this.steps + Math.floor(this.#random() * 6)) % 80
    return kind % 8 > 0 ? `text ${kind} `.repeat(200) : noise(kind)
  }
}

/** Does not compress: stored as an object. */
function noise(salt: number): string {
  const random = randomFrom(salt)
  let text = ''
  for (let index = 0; index < 8000; index++) text += `${random()}`.slice(2, 18)
  return text
}

function randomFrom(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9
  return () => {
    state = (Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x6d2b79f5) | 0
    const mixed = Math.imul(state ^ (state >>> 12), 0x297a2d39)
    return ((mixed ^ (mixed >>> 15)) >>> 0) / 2 ** 32
  }
}
