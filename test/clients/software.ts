import { createHash } from 'node:crypto'
import {
  cpSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { join } from 'node:path'
import { Chance } from '../model/chance.ts'
import { Site, type SiteMount } from '../mount/fixture.ts'

export interface SoftwareOptions {
  readonly seed: number
  /** How often each program does its work. */
  readonly rounds: number
}

const mountsMax = 3
/** A mount whose daemon dies more often within ten minutes is given up. */
const deathsMax = 9
/** What is killed next is killed when programs have done so much since: on a slow machine, too, they get on. */
const stepsPerKill = 6
/** So long that no process that comes back finds its lease taken. */
const leaseMs = 60_000

/** Git as a user has it who has set nothing up. */
const prelude = [
  'export GIT_CONFIG_GLOBAL=/dev/null GIT_TERMINAL_PROMPT=0',
  'export GIT_AUTHOR_NAME=a GIT_AUTHOR_EMAIL=a@b GIT_COMMITTER_NAME=a GIT_COMMITTER_EMAIL=a@b',
].join('\n')

/** Real programs in three mounts at once, while daemons and the server are killed. No program may notice. */
export class Software {
  readonly faults: string[] = []
  readonly counts = { kills: 0, commits: 0, rows: 0, moves: 0 }
  readonly #site: Site
  readonly #options: SoftwareOptions
  readonly #mounts: SiteMount[] = []
  readonly #commits = new Map<number, number>()
  readonly #chance: Chance
  readonly #deaths: number[] = Array.from({ length: mountsMax }, () => 0)
  #steps = 0
  #killing: Promise<void> = Promise.resolve()

  private constructor(site: Site, options: SoftwareOptions) {
    this.#site = site
    this.#options = options
    this.#chance = new Chance(options.seed)
  }

  static async play(options: SoftwareOptions): Promise<Software> {
    const site = await Site.open({ leaseMs })
    const software = new Software(site, options)
    try {
      await software.#begin()
      await Promise.all(
        software.#mounts.flatMap((mount, m) => [
          software.#rounds((round) => software.#git(mount, m, round)),
          software.#rounds((round) => software.#npm(mount, m, round)),
          software.#rounds((round) => software.#sqlite(mount, m, round)),
          software.#rounds((round) => software.#trees(mount, m, round)),
        ]),
      )
      await software.#killing
      await software.#judge()
    } finally {
      await site.close()
    }
    return software
  }

  #disk(...names: string[]): string {
    return join(this.#site.directory, 'disk', ...names)
  }

  async #begin(): Promise<void> {
    const { seed } = this.#options
    makeTree(this.#disk('tree'), new Chance(seed))
    makePackages(this.#disk('packages'))
    cpSync(this.#disk('tree'), this.#disk('origin'), { recursive: true, verbatimSymlinks: true })
    for (let m = 0; m < mountsMax; m++)
      this.#mounts.push(await this.#site.mount('/', '--shared-locks'))
    const [first] = this.#mounts
    await first!.sh(`${prelude}
      cd ${this.#disk()}
      tar -C tree -cf tree.tar .
      for p in one two; do tar -C packages/$p -czf $p.tgz package; done
      cd origin; git init -q; git add .; git commit -qm begin`)
    await first!
      .sh(`mkdir trees moved left right; tar -C left --one-top-level=ball -xf ${this.#disk('tree.tar')}
      sqlite3 db 'create table t (who, n)'`)
  }

  /** Each program goes on after another one has failed: the end shows what else is wrong. */
  async #rounds(work: (round: number) => Promise<unknown>): Promise<void> {
    for (let round = 0; round < this.#options.rounds; round++) await work(round)
  }

  /** Gives what it prints. No error is expected: killed processes are a pause to programs. */
  async #run(mount: SiteMount, m: number, script: string): Promise<string | undefined> {
    const { code, stdout, stderr } = await mount.trySh(`${prelude}\n${script}`)
    this.#noteStep()
    if (code === 0) return stdout
    this.faults.push(`mount ${m}: ${script}: ${code}: ${stdout.slice(-300)}${stderr.slice(-300)}`)
    return undefined
  }

  async #git(mount: SiteMount, m: number, round: number): Promise<void> {
    const repository = `repository-${m}`
    if (round === 0) {
      await this.#run(mount, m, `git clone -q --no-hardlinks ${this.#disk('origin')} ${repository}`)
      this.#commits.set(m, 1)
    }
    for (const text of ['a', 'b', 'c']) {
      const change = `echo ${text} >> file-${round}; git mv -k d0 e${round}; git mv -k e${round} d0`
      const done = await this.#run(
        mount,
        m,
        `cd ${repository}; ${change}; echo ${text} >> d0/f0; git add -A; git commit -qm ${text}${round}`,
      )
      if (done !== undefined) this.#commits.set(m, this.#commits.get(m)! + 1)
      this.counts.commits++
      await this.#lookAtNext(mount, m)
    }
    await this.#run(mount, m, `cd ${repository}; git gc -q --prune=now; git fsck --full --strict`)
  }

  /** What a program in another mount was told is committed is seen here. */
  async #lookAtNext(mount: SiteMount, m: number): Promise<void> {
    const next = (m + 1) % mountsMax
    const floor = this.#commits.get(next)
    if (floor === undefined) return
    const seen = await this.#run(mount, m, `git -C repository-${next} rev-list --count HEAD`)
    if (seen !== undefined && Number(seen) < floor)
      this.faults.push(`mount ${m} sees ${seen.trim()} commits of mount ${next}, after ${floor}`)
  }

  #npm(mount: SiteMount, m: number, round: number): Promise<unknown> {
    const install = `npm install --offline --no-audit --no-fund --cache ${this.#disk(`npm-${m}`)} --loglevel error`
    const folder = `npm-${m}`
    return this.#run(
      mount,
      m,
      `mkdir -p ${folder}; cd ${folder}; ${round === 0 ? 'echo {} > package.json' : 'rm -rf node_modules'}
       ${install} ${this.#disk('one.tgz')} ${this.#disk('two.tgz')}
       test "$(node_modules/.bin/two)" = "one two"
       for p in one two; do diff -r node_modules/$p ${this.#disk('packages')}/$p/package; done`,
    )
  }

  /** All mounts write to one database. */
  async #sqlite(mount: SiteMount, m: number, round: number): Promise<void> {
    for (let n = 0; n < 5; n++) {
      const row = `insert into t values (${m}, ${round * 5 + n})`
      await this.#run(mount, m, `sqlite3 -cmd '.timeout 600000' db '${row}'`)
      this.counts.rows++
    }
  }

  /** A tree is unpacked, moved as a whole, and compared by another mount. One that all move is in one place. */
  async #trees(mount: SiteMount, m: number, round: number): Promise<void> {
    const name = `${m}-${round}`
    const archive = this.#disk('tree.tar')
    await this.#run(mount, m, `tar -C trees --one-top-level=${name} -xf ${archive}`)
    await this.#run(mount, m, `mv -T trees/${name} moved/${name}; test ! -e trees/${name}`)
    const other = (m + 1) % mountsMax
    await this.#run(this.#mounts[other]!, other, `tar -C moved/${name} --compare -f ${archive}`)
    for (const [from, to] of [
      ['left', 'right'],
      ['right', 'left'],
    ]) {
      const { code, stderr } = await mount.trySh(`mv -T ${from}/ball ${to}/ball`)
      if (code === 0) this.counts.moves++
      else if (!/No such file/.test(stderr))
        this.faults.push(`mount ${m} moves the ball: ${stderr}`)
    }
  }

  #noteStep(): void {
    if (++this.#steps % stepsPerKill === 0) this.#killing = this.#killing.then(() => this.#kill())
  }

  async #kill(): Promise<void> {
    const m = this.#chance.below(mountsMax + 1)
    if (m < mountsMax && this.#deaths[m]!++ < deathsMax) this.#killDaemon(this.#mounts[m]!)
    else {
      await this.#site.stopServer('SIGKILL')
      await this.#site.startServer()
    }
    this.counts.kills++
  }

  #killDaemon(mount: SiteMount): void {
    try {
      process.kill(mount.processes().daemon, 'SIGKILL')
    } catch {
      // The one before it was killed a moment ago.
    }
  }

  async #judge(): Promise<void> {
    for (const mount of this.#mounts) await mount.drain()
    for (const [m, mount] of this.#mounts.entries()) await this.#judgeMount(mount, m)
    await this.#site.cairn(['fs', 'archive', ':/', this.#disk('all.tar')])
    mkdirSync(this.#disk('all'))
    await this.#mounts[0]!.sh(`tar -C ${this.#disk('all')} -xf ${this.#disk('all.tar')}`)
    const [expected, ...trees] = [
      this.#disk('all'),
      ...this.#mounts.map(({ directory }) => directory),
    ].map((directory) => describeTree(directory))
    for (const [m, tree] of trees.entries())
      for (const path of new Set([...expected!.keys(), ...tree.keys()]))
        if (expected!.get(path) !== tree.get(path))
          this.faults.push(
            `${path}: ${expected!.get(path)} by HTTP, ${tree.get(path)} in mount ${m}`,
          )
  }

  async #judgeMount(mount: SiteMount, m: number): Promise<void> {
    const { rescues } = await mount.status()
    for (const { layer } of rescues) this.faults.push(`mount ${m}: some writes went to ${layer}`)
    for (const [other, commits] of this.#commits) {
      await this.#run(mount, m, `git -C repository-${other} fsck --full --strict`)
      const count = await this.#run(mount, m, `git -C repository-${other} rev-list --count HEAD`)
      if (Number(count) !== commits)
        this.faults.push(`mount ${m}: ${count} commits in repository-${other}, not ${commits}`)
    }
    const rows = await this.#run(
      mount,
      m,
      `sqlite3 db 'pragma integrity_check; select count(distinct who || "-" || n), count(*) from t'`,
    )
    const { rows: count } = this.counts
    if (rows !== `ok\n${count}|${count}\n`)
      this.faults.push(`mount ${m}: ${rows}, not ${count} rows`)
    await this.#run(
      mount,
      m,
      `ball=$(echo */ball); tar -C $ball --compare -f ${this.#disk('tree.tar')}
       test -z "$(ls trees)"`,
    )
  }
}

/** Files of several sizes in a few directories, with symlinks. */
function makeTree(directory: string, chance: Chance): void {
  for (let d = 0; d < 6; d++) {
    mkdirSync(join(directory, `d${d}`, 'deep'), { recursive: true })
    for (let f = 0; f < 8; f++) {
      const text = `${d} ${f} ${chance.below(1e9)}\n`.repeat(chance.choose([1, 20, 700, 20_000]))
      writeFileSync(join(directory, `d${d}`, f % 2 === 0 ? `f${f}` : `deep/f${f}`), text)
    }
    symlinkSync('deep/f1', join(directory, `d${d}`, 'link'))
  }
}

/** Two of them: one needs the other, and has a command. */
function makePackages(directory: string): void {
  const [one, two] = ['one', 'two'].map((name) => join(directory, name, 'package'))
  for (const folder of [one!, two!]) mkdirSync(join(folder, 'lib'), { recursive: true })
  for (let i = 0; i < 40; i++)
    writeFileSync(join(one!, 'lib', `m${i}.js`), `module.exports = ${i}\n`.repeat(i + 1))
  writeFileSync(join(one!, 'index.js'), "module.exports = 'one'\n")
  writeFileSync(join(one!, 'package.json'), JSON.stringify({ name: 'one', version: '1.0.0' }))
  const command = "#!/usr/bin/env node\nconsole.log(require('one'), 'two')\n"
  writeFileSync(join(two!, 'lib', 'two.js'), command, { mode: 0o755 })
  writeFileSync(
    join(two!, 'package.json'),
    JSON.stringify({ name: 'two', version: '1.0.0', bin: { two: 'lib/two.js' } }),
  )
}

/** What each path below a directory is. */
function describeTree(directory: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>()
  for (const name of readdirSync(directory, { recursive: true, encoding: 'utf8' })) {
    if (name === '.cairn' || name.startsWith('.cairn/')) continue
    const path = join(directory, name)
    const stat = lstatSync(path)
    const hash = (): string => createHash('sha256').update(readFileSync(path)).digest('hex')
    const content = stat.isSymbolicLink() ? readlinkSync(path) : stat.isFile() ? hash() : ''
    found.set(name, `${stat.mode.toString(8)} ${content}`)
  }
  return found
}
