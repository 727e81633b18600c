import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  copyFileSync,
  cpSync,
  existsSync,
  globSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
} from 'node:fs'
import { type AddressInfo, createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { askControl, type MountState, readState } from '@cairn/mount/beside'
import { askShared } from '@cairn/server/testing'
import type { SharedProgram } from '../shared/parts.ts'
import { askStatus, type DaemonStatus } from './ask-daemon.ts'
import { endAll, unmount } from './end-all.ts'

// Benchmarks run without it, and bring a bundle of their own.
const shared = await askShared<SharedProgram>('program')
const program =
  shared?.program ?? fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
const serverProgram = fileURLToPath(new URL('server-child.ts', import.meta.url))

/** Why no mount can be made here; undefined where one can. */
export const noMount: string | undefined = existsSync('/dev/fuse')
  ? undefined
  : 'there is no /dev/fuse'

export interface Ran {
  readonly code: number
  readonly stdout: string
  readonly stderr: string
}

/** Other than a server has unless told. */
interface SiteOptions {
  /** How long a writer may be silent. */
  readonly leaseMs?: number
  /** How long unreachable data stays. */
  readonly keep?: { readonly graceMs: number; readonly retentionMs: number }
  /** The database, where several servers share one. */
  readonly meta?: string
  /** Needed where they speak to each other. */
  readonly masterKey?: string
  /** Where the others reach it; `own` for where it listens. */
  readonly peerAddress?: string
}

/**
 * A server and mounts of it, each in processes of their own: a program that waits in a mount must not be the one that
 * answers. Every mount gets a home of its own, as if it were another sandbox.
 */
export class Site {
  readonly directory: string
  #server: ChildProcess | undefined
  #url = ''
  static readonly #open = new Set<Site>()
  readonly #mounts: SiteMount[] = []
  readonly #options: SiteOptions

  private constructor(options: SiteOptions) {
    Site.#open.add(this)
    this.#options = options
    this.directory = mkdtempSync(join(tmpdir(), 'cairn-site-'))
  }

  static async open(options: SiteOptions = {}): Promise<Site> {
    const site = new Site(options)
    const isPrepared = shared !== undefined && options.meta === undefined
    if (isPrepared) cpSync(shared.data, join(site.directory, 'data'), { recursive: true })
    await site.startServer()
    if (!isPrepared) await site.cairn(['ws', 'create', 'demo'])
    return site
  }

  /** Another server on the same database, with the same key. What is stored must be small: objects are not shared. */
  static async openBeside(other: Site, options: SiteOptions = {}): Promise<Site> {
    const site = new Site({ ...other.#options, ...options })
    const data = join(site.directory, 'data')
    mkdirSync(data)
    copyFileSync(join(other.directory, 'data', 'owner-key'), join(data, 'owner-key'))
    await site.startServer()
    return site
  }

  /** For a program that is told to end. */
  static async closeAll(): Promise<void> {
    for (const site of Site.#open) await site.close()
  }

  get url(): string {
    return this.#url
  }

  get serverPid(): number {
    return this.#server!.pid!
  }

  get key(): string {
    return readFileSync(join(this.directory, 'data', 'owner-key'), 'utf8').trim()
  }

  /** On the port it had, if it had one. */
  async startServer(): Promise<void> {
    const port = this.#url === '' ? await findPort(this.#options) : new URL(this.#url).port
    const [data, listen] = [join(this.directory, 'data'), `127.0.0.1:${port}`]
    const isOrdinary = Object.keys(this.#options).length === 0
    const peerAddress =
      this.#options.peerAddress === 'own' ? `http://${listen}` : this.#options.peerAddress
    const options = JSON.stringify({ ...this.#options, peerAddress })
    const args = isOrdinary
      ? words(['serve', '--data', data, '--listen', listen, '--json'])
      : [...nodeOptions, serverProgram, data, listen, options]
    const server = spawn(process.execPath, args, {
      env: this.#env('server'),
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    const line = await new Promise<string>((resolve, reject) => {
      createInterface(server.stdout).once('line', resolve)
      server.once('exit', (code) => reject(new Error(`the server ended with code ${code}`)))
    })
    this.#server = server
    this.#url = (JSON.parse(line) as { url: string }).url
  }

  async stopServer(signal: NodeJS.Signals = 'SIGTERM'): Promise<void> {
    const server = this.#server
    if (!server || server.exitCode !== null || server.signalCode !== null) return
    const ended = new Promise((resolve) => server.once('exit', resolve))
    server.kill(signal)
    await ended
  }

  /** It keeps its connections and answers nothing more. */
  haltServer(): void {
    this.#server?.kill('SIGSTOP')
  }

  /** It goes on where it was halted. */
  resumeServer(): void {
    this.#server?.kill('SIGCONT')
  }

  /** Runs the command as the user of a home; fails when it fails. */
  async cairn(args: readonly string[], home = 'server'): Promise<Ran> {
    const ran = await this.tryCairn(args, home)
    if (ran.code !== 0) throw new Error(`cairn ${args.join(' ')}: ${ran.stderr}`)
    return ran
  }

  tryCairn(args: readonly string[], home = 'server'): Promise<Ran> {
    return run(process.execPath, words(args), this.#env(home))
  }

  /** The same as a process that goes on. */
  startCairn(args: readonly string[], home = 'server'): ChildProcess {
    return spawn(process.execPath, words(args), { env: this.#env(home) })
  }

  async mount(path = '/', ...options: string[]): Promise<SiteMount> {
    const home = `sandbox-${this.#mounts.length + 1}`
    const directory = join(this.directory, home, 'work')
    const mount = new SiteMount(this, home, directory, [
      `:${path}`,
      directory,
      ...options,
      ...furtherOptions,
    ])
    this.#mounts.push(mount)
    await mount.again()
    return mount
  }

  /** Leaves nothing behind, whatever happened. */
  async close(): Promise<void> {
    Site.#open.delete(this)
    await Promise.all([endAll(this.directory), this.stopServer('SIGKILL')])
    rmSync(this.directory, { recursive: true, force: true })
  }

  #env(home: string): NodeJS.ProcessEnv {
    const env = { ...process.env, HOME: join(this.directory, home) }
    if (this.#url === '') return env
    return { ...env, CAIRN_SERVER: this.#url, CAIRN_API_KEY: this.key, CAIRN_WORKSPACE: 'demo' }
  }
}

export class SiteMount {
  readonly directory: string
  readonly #site: Site
  readonly home: string
  readonly #words: readonly string[]

  /** `words` are what `cairn mount` is called with. */
  constructor(site: Site, home: string, directory: string, words: readonly string[]) {
    this.#site = site
    this.home = home
    this.directory = directory
    this.#words = words
  }

  /** With the same words at the same place: as after an unmount, or after all of its processes were killed. */
  async again(): Promise<void> {
    await this.#site.cairn(['mount', ...this.#words], this.home)
  }

  path(...names: string[]): string {
    return join(this.directory, ...names)
  }

  async status(): Promise<DaemonStatus> {
    return askStatus(this.#state())
  }

  async drain(): Promise<void> {
    await this.status()
    await askControl(this.#state().directory, 'drain')
  }

  async unmount(): Promise<void> {
    await this.#site.cairn(['umount', this.directory], this.home)
  }

  /** Runs a shell script in the mount. */
  async sh(script: string): Promise<string> {
    const ran = await this.trySh(script)
    if (ran.code !== 0) throw new Error(`${script}: ${ran.stdout}${ran.stderr}`)
    return ran.stdout
  }

  trySh(script: string): Promise<Ran> {
    return run('/bin/sh', ['-ec', script], process.env, this.directory)
  }

  /**
   * Read from the disk: a question to the daemon, or a new command, would give it time to send what
   * it has.
   */
  processes(): { readonly daemon: number; readonly supervisor: number } {
    const { daemon, supervisor } = this.#state()
    return { daemon: daemon!.pid, supervisor: supervisor.pid }
  }

  #state(): MountState {
    const [path] = globSync(join(this.#caches, 'cairn/mounts/*/state.json'))
    const state = path === undefined ? undefined : readState(dirname(path))
    if (!state) throw new Error(`nothing is mounted at ${this.directory}`)
    return state
  }

  /** As the end of a sandbox does it: no process has a last word, and its disk is gone. */
  async kill(): Promise<void> {
    const { daemon, supervisor } = this.processes()
    process.kill(supervisor, 'SIGKILL')
    process.kill(daemon, 'SIGKILL')
    unmount(this.directory)
    rmSync(this.#caches, { recursive: true })
  }

  get #caches(): string {
    return join(this.#site.directory, this.home, '.cache')
  }
}

/** One that must know its address before it listens takes a port that was free a moment ago. */
async function findPort({ peerAddress }: SiteOptions): Promise<number> {
  if (peerAddress !== 'own') return 0
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  server.close()
  await once(server, 'close')
  return port
}

/** `CAIRN_MOUNT_OPTIONS='--memory 0' npx vitest run test/mount` tries mounts with them. */
const furtherOptions = (process.env['CAIRN_MOUNT_OPTIONS'] ?? '').split(' ').filter(Boolean)
const nodeOptions = ['--conditions=source', '--disable-warning=ExperimentalWarning']

function words(args: readonly string[]): string[] {
  return [...nodeOptions, program, ...args]
}

function run(
  file: string,
  args: readonly string[],
  env: NodeJS.ProcessEnv,
  cwd?: string,
): Promise<Ran> {
  return new Promise((resolve) => {
    execFile(
      file,
      args,
      { env, encoding: 'utf8', maxBuffer: 64 << 20, ...(cwd === undefined ? {} : { cwd }) },
      (error, stdout, stderr) => {
        const code = error ? (typeof error.code === 'number' ? error.code : -1) : 0
        resolve({ code, stdout, stderr })
      },
    )
  })
}
