import { readFile } from 'node:fs/promises'
import { setTimeout } from 'node:timers/promises'
import { MariadbServer } from '@cairn/server/testing'
import { Site, type SiteMount } from '../mount/fixture.ts'
import { ApiClient } from './api-client.ts'
import { type BranchName, type History, type MountName, type Op, type Turn } from './history.ts'
import { MountClient } from './mount-client.ts'
import { Oracle, shorten } from './oracle.ts'

/** How long what a mount has acknowledged may take to the server, and a daemon to come back. */
const patienceMs = 30_000
/** Ends a hang, nothing else. */
const turnMsMax = 120_000
/** So long that no daemon that comes back finds its lease taken. */
const leaseMs = 60_000

const refusals = ['ENOENT', 'EEXIST', 'ENOTEMPTY', 'EBADF', 'precondition_failed']
  // Errors of a layer that was committed.
  .concat('EROFS', 'layer_closed')
const lost = ['no_answer', 'unreachable', 'timed_out']
/** Errors of a mount whose daemon and supervisor are dead. */
const dead = ['ENOTCONN', 'ECONNABORTED', 'EIO']

/** Plays a history on real processes. Gives what went wrong, and undefined if nothing did. */
export async function playHistory(history: History): Promise<string | undefined> {
  const usesMariadb = history.some(({ kill }) => kill === 'database')
  const database = usesMariadb ? await MariadbServer.start() : undefined
  const site = await Site.open({
    leaseMs,
    ...(database && { meta: await database.createDatabase() }),
  })
  const player = new Player(site, database)
  try {
    await player.begin()
    for (const [index, turn] of history.entries()) {
      const fault = await withDeadline(player.play(turn))
      if (fault !== undefined) return `turn ${index}: ${fault}`
    }
    const fault = await player.compareAll()
    return fault === undefined ? undefined : `at the end: ${fault}`
  } finally {
    await player.end()
    await site.close()
    await database?.stop()
  }
}

function withDeadline(playing: Promise<string | undefined>): Promise<string | undefined> {
  const ended = new AbortController()
  const late = setTimeout(turnMsMax, 'it does not end', { signal: ended.signal })
  late.catch(() => undefined)
  return Promise.race([playing, late]).finally(() => ended.abort())
}

class Player {
  readonly #site: Site
  readonly #database: MariadbServer | undefined
  readonly #oracle = new Oracle()
  readonly #mounts = new Map<MountName, MountClient>()
  readonly #http: ApiClient
  readonly #sdk: ApiClient
  /** Layers are closed by commits; the next one of the same name has another number. */
  readonly #generations = new Map<BranchName, number>()

  constructor(site: Site, database: MariadbServer | undefined) {
    this.#site = site
    this.#database = database
    const layerOf = (branch: BranchName): string => this.#layerOf(branch)
    this.#http = new ApiClient(site, 'http', layerOf)
    this.#sdk = new ApiClient(site, 'sdk', layerOf)
  }

  async begin(): Promise<void> {
    const { files } = this.#sdk.workspace
    for (const path of ['/repo', '/box']) await files.mkdir(path)
    await Promise.all([this.#makeLayer('one'), this.#makeLayer('two')])
    const [m1, m2, l1] = await Promise.all([
      this.#site.mount('/'),
      this.#site.mount('/'),
      this.#site.mount('/repo', '--layer', this.#layerOf('one')),
    ])
    this.#mounts.set('m1', new MountClient(m1, ''))
    this.#mounts.set('m2', new MountClient(m2, ''))
    this.#mounts.set('l1', new MountClient(l1, 'repo/'))
  }

  async play(turn: Turn): Promise<string | undefined> {
    const taking = Promise.all(turn.ops.map((op) => this.#take(op, turn)))
    await this.#kill(turn)
    const answers = await taking
    await this.#recover(turn)
    const fault = this.#oracle.judge(turn, answers)
    if (fault === undefined) return undefined
    const told = turn.ops.map((op, at) => `${describe(op)}: ${shorten(answers[at]!)}`)
    return [...told, fault].join('\n')
  }

  /** Every client sees the same in the end, and all of it. */
  async compareAll(): Promise<string | undefined> {
    for (const branch of ['main', 'one', 'two'] as const)
      for (const client of ['m1', 'm2', 'l1', 'http'] as const) {
        const isThere = client === 'http' || (client === 'l1') === (branch === 'one')
        if (!isThere || (branch === 'two' && client !== 'http')) continue
        const fault = await this.#compare({ client, branch })
        if (fault !== undefined) return fault
      }
    return undefined
  }

  async end(): Promise<void> {
    for (const client of this.#mounts.values()) await client.end()
  }

  async #compare(who: Pick<Op, 'client' | 'branch'>): Promise<string | undefined> {
    const folders = who.branch === 'main' ? ['repo', 'box', 'box/d', 'box/e'] : ['repo']
    const op = { ...who, other: '', offset: 0, text: '' }
    for (const path of folders) {
      const listing = await this.play({ ops: [{ ...op, type: 'list', path }] })
      if (listing !== undefined) return listing
      for (const name of ['a', 'b', 'c', 'long', 'x', 'y']) {
        const ops = [{ ...op, type: 'read', path: `${path}/${name}` }] as const
        const reading = await this.play({ ops })
        if (reading !== undefined) return reading
      }
    }
    return undefined
  }

  async #take(op: Op, turn: Turn): Promise<string> {
    if (op.type === 'renew') return this.#renew(op)
    const client = this.#clientOf(op)
    if (client instanceof MountClient) return plain(await client.take(op), turn)
    const ask = async (): Promise<string> => plain(await client.take(op), turn)
    // What a mount acknowledged under its lease arrives at the server a moment later.
    const isLook = op.type === 'read' || op.type === 'list'
    let answer = await ask()
    if (!isLook) return answer
    const endMs = Date.now() + patienceMs
    while (!this.#oracle.accepts(turn, op, answer) && Date.now() < endMs) answer = await ask()
    return answer
  }

  #clientOf({ client }: Op): MountClient | ApiClient {
    if (client === 'http') return this.#http
    return client === 'sdk' ? this.#sdk : this.#mounts.get(client)!
  }

  /** Another layer, and another mount of it, in the place of those that a commit closed. */
  async #renew({ branch }: Op): Promise<string> {
    const { state } = await this.#sdk.workspace.layers.status(this.#layerOf(branch))
    if (state !== 'committed') return 'refused'
    await this.#makeLayer(branch)
    if (branch !== 'one') return 'ok'
    const before = this.#mounts.get('l1')!
    await before.end()
    await before.mount.unmount()
    const mount = await this.#site.mount('/repo', '--layer', this.#layerOf(branch))
    this.#mounts.set('l1', new MountClient(mount, 'repo/'))
    return 'ok'
  }

  async #makeLayer(branch: BranchName): Promise<void> {
    this.#generations.set(branch, (this.#generations.get(branch) ?? 0) + 1)
    await this.#sdk.workspace.layers.create('/repo', { name: this.#layerOf(branch) })
  }

  #layerOf(branch: BranchName): string {
    return branch === 'main' ? branch : `${branch}-${this.#generations.get(branch)}`
  }

  async #kill({ kill }: Turn): Promise<void> {
    if (kill === undefined) return
    if (kill === 'database') return this.#database!.restart()
    if (kill === 'server') {
      await this.#site.stopServer('SIGKILL')
      return this.#site.startServer()
    }
    const name = 'daemon' in kill ? kill.daemon : kill.both
    const { mount } = this.#mounts.get(name)!
    const { daemon, supervisor } = mount.processes()
    if ('both' in kill) process.kill(supervisor, 'SIGKILL')
    process.kill(daemon, 'SIGKILL')
    // At once: others may be waiting for what it has.
    if ('both' in kill) await mount.again()
  }

  /** A mount without its daemon or its server shows what it knew. So nothing is asked of it before it has both. */
  async #recover({ kill }: Turn): Promise<void> {
    if (kill === undefined) return
    if (typeof kill === 'object' && 'both' in kill) {
      await this.#mounts.get(kill.both)!.restart()
      this.#oracle.letGo(kill.both)
    }
    await Promise.all([...this.#mounts.values()].map(({ mount }) => atWork(mount)))
  }
}

async function atWork(mount: SiteMount): Promise<void> {
  for (const endMs = Date.now() + patienceMs; Date.now() < endMs;) {
    const status = await readFile(mount.path('.cairn/status'), 'utf8').catch(() => '')
    if (status.includes('connected: yes')) return
    await setTimeout(10)
  }
  throw new Error(`${mount.directory} is not connected`)
}

/** The few kinds of answers that the model knows. Others are faults by themselves. */
function plain(answer: string, { kill }: Turn): string {
  if (refusals.includes(answer)) return 'refused'
  if (answer === 'layer_conflict') return 'conflict'
  if (answer === 'ESTALE') return 'stale'
  if ((kill === 'server' || kill === 'database') && lost.includes(answer)) return 'unknown'
  if (typeof kill === 'object' && 'both' in kill && dead.includes(answer)) return 'unknown'
  return answer
}

export function describe({ client, branch, type, path, other, offset, text }: Op): string {
  const place = client === 'http' || client === 'sdk' ? ` (${branch})` : ''
  return `${client}${place} ${type} ${path} other=${other} at=${offset} ${shorten(text)}`
}
