import { readdirSync, readFileSync } from 'node:fs'
import { setTimeout as sleep } from 'node:timers/promises'
import { Chance } from '../model/chance.ts'
import { Site, type SiteMount } from '../mount/fixture.ts'
import { ApiClient } from './api-client.ts'
import { CrowdProgram, folders } from './crowd-program.ts'
import { Ledger, makeVersion } from './ledger.ts'
import { MountClient } from './mount-client.ts'

/** What happens to the processes while programs work. */
export type Trouble =
  | 'nothing'
  | 'daemons are killed'
  | 'daemons are frozen'
  | 'the server is killed'

export interface CrowdOptions {
  readonly seed: number
  readonly ms: number
  readonly trouble: Trouble
}

const [mountsMax, programsEach] = [3, 2]
/** So long that no daemon that comes back finds its lease taken, and so short that a frozen one does. */
const [longLeaseMs, shortLeaseMs] = [60_000, 1000]
const troubleMs = 1500
const lostAnswers = ['no_answer', 'unreachable', 'timed_out', 'EIO']

/**
 * Several mounts with two programs in each, and clients of the API, all at work at once in the same directories. Unlike
 * the histories of `player.ts`, no operation waits for another one, so nothing is known of their order.
 */
export class Crowd {
  readonly ledger = new Ledger()
  readonly #site: Site
  readonly #options: CrowdOptions
  readonly #mounts: SiteMount[] = []
  readonly #programs: CrowdProgram[] = []
  readonly #clients: MountClient[] = []
  #isOver = false

  private constructor(site: Site, options: CrowdOptions) {
    this.#site = site
    this.#options = options
  }

  static async play(options: CrowdOptions): Promise<Crowd> {
    const isFrozen = options.trouble === 'daemons are frozen'
    const site = await Site.open({ leaseMs: isFrozen ? shortLeaseMs : longLeaseMs })
    const crowd = new Crowd(site, options)
    try {
      await crowd.#begin()
      const working = crowd.#programs.map((program) => program.workUntil(() => crowd.#isOver))
      const trouble = crowd.#makeTrouble()
      await sleep(options.ms)
      crowd.#isOver = true
      await Promise.all([...working, trouble])
      await crowd.#judge()
    } finally {
      for (const client of crowd.#clients) await client.end()
      await site.close()
    }
    return crowd
  }

  /** How often each operation had each answer. */
  get counts(): ReadonlyMap<string, number> {
    const all = new Map<string, number>()
    for (const { counts } of this.#programs)
      for (const [key, count] of counts) all.set(key, (all.get(key) ?? 0) + count)
    return all
  }

  async #begin(): Promise<void> {
    const http = this.#api('http')
    const clients = new Map<string, MountClient | ApiClient>()
    for (let m = 0; m < mountsMax; m++) {
      const mount = await this.#site.mount('/')
      this.#mounts.push(mount)
      for (let p = 0; p < programsEach; p++) clients.set(`m${m}p${p}`, new MountClient(mount, ''))
    }
    this.#clients.push(...(clients.values() as Iterable<MountClient>))
    clients.set('http', http).set('sdk', this.#api('sdk'))
    const { files } = http.workspace
    for (const folder of folders) await files.write(`/${folder}/log`, '')
    await files.write('/one/ball', 'ball')
    const published: string[] = []
    for (const [at, name] of [...clients.keys()].entries()) {
      const home = folders[at % folders.length]!
      await files.write(`/${home}/own-${name}`, name)
      this.ledger.noteMoved(`own-${name}`, home, true)
      published.push(`${home}/now-${name}`, `${home}/new-${name}`)
    }
    for (const path of published) await files.write(`/${path}`, makeVersion(0))
    for (const [name, client] of clients)
      this.#programs.push(this.#program(name, client, published))
  }

  #program(
    name: string,
    client: MountClient | ApiClient,
    published: readonly string[],
  ): CrowdProgram {
    const { seed, trouble } = this.#options
    const chance = new Chance(seed * 100 + this.#programs.length)
    const isKnown = trouble === 'nothing' || trouble === 'daemons are killed'
    return new CrowdProgram({
      name,
      client,
      isApi: client instanceof ApiClient,
      chance,
      ledger: this.ledger,
      published,
      isCalm: trouble === 'nothing',
      lost: isKnown ? [] : lostAnswers,
    })
  }

  #api(client: 'http' | 'sdk'): ApiClient {
    return new ApiClient(this.#site, client, (branch) => branch)
  }

  async #makeTrouble(): Promise<void> {
    const { seed, trouble } = this.#options
    const chance = new Chance(seed)
    for (;;) {
      await sleep(troubleMs / 2 + chance.below(troubleMs))
      if (this.#isOver || trouble === 'nothing') return
      if (trouble === 'the server is killed') {
        await this.#site.stopServer('SIGKILL')
        await this.#site.startServer()
      } else await this.#strike(chance.choose(this.#mounts).processes().daemon, chance)
    }
  }

  async #strike(daemon: number, chance: Chance): Promise<void> {
    if (this.#options.trouble === 'daemons are killed') return void process.kill(daemon, 'SIGKILL')
    process.kill(daemon, 'SIGSTOP')
    await sleep(chance.choose([shortLeaseMs / 2, 2 * shortLeaseMs, 4 * shortLeaseMs]))
    process.kill(daemon, 'SIGCONT')
  }

  async #judge(): Promise<void> {
    for (const mount of this.#mounts) {
      await mount.drain()
      const { rescues } = await mount.status()
      for (const { layer, result } of rescues) await this.#noteRescue(layer, result)
    }
    this.ledger.judge('the server', await this.#filesAtServer())
    for (const [at, mount] of this.#mounts.entries())
      this.ledger.judge(`mount ${at}`, filesIn(mount))
  }

  /** Only a mount that was away for longer than its lease may come too late. What it wrote is in a layer, or committed. */
  async #noteRescue(layer: string, result: string): Promise<void> {
    if (this.#options.trouble !== 'daemons are frozen')
      this.ledger.fail(`some writes went to ${layer}`)
    if (result === 'committed') return
    this.ledger.noteRescued(await this.#filesAtServer(layer))
  }

  async #filesAtServer(layer?: string): Promise<ReadonlyMap<string, string>> {
    const { workspace } = this.#api('sdk')
    const { files } = layer === undefined ? workspace : workspace.layer(layer)
    const found = new Map<string, string>()
    for (const folder of folders)
      for await (const { name } of files.list(`/${folder}`))
        found.set(
          `${folder}/${name}`,
          Buffer.from(await files.read(`/${folder}/${name}`)).toString(),
        )
    return found
  }
}

function filesIn(mount: SiteMount): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const folder of folders)
    for (const name of readdirSync(mount.path(folder)))
      found.set(`${folder}/${name}`, readFileSync(mount.path(folder, name), 'utf8'))
  return found
}
