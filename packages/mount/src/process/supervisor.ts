import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, mkdirSync, openSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { mountFuse, unmount } from '../fuse/mounting.ts'
import type { DaemonMessage, MountConfig } from './config.ts'
import { removeState, writeState } from './state.ts'

/** How a daemon is started: the same program, told to be one. */
export interface DaemonCommand {
  readonly file: string
  readonly args: readonly string[]
}

const restartsMax = 10
const restartWindowMs = 10 * 60_000
const restartPauseMs = 200

/**
 * Mounts, keeps the descriptor, and keeps a daemon behind it: one that crashes is replaced, and programs with open
 * files see a pause. Ends when the mount is gone.
 */
export class Supervisor {
  readonly #config: MountConfig
  readonly #command: DaemonCommand
  readonly #ended = Promise.withResolvers<void>()
  readonly #ready = Promise.withResolvers<void>()
  readonly #restarts: number[] = []
  #fd = -1
  #init: unknown
  #daemon: ChildProcess | undefined
  #isReady = false
  #isStopping = false
  #failure: string | undefined

  constructor(config: MountConfig, command: DaemonCommand) {
    this.#config = config
    this.#command = command
    this.#ready.promise.catch(() => undefined)
  }

  /** Resolves when the mount is usable. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves when the mount is gone and everything is at the server. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  async start(): Promise<void> {
    const { mountPoint, directory, readOnly, allowOther, workspace, mounter } = this.#config
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    const { fd } = await mountFuse(mountPoint, {
      fsName: `cairn:${workspace}`,
      readOnly,
      allowOther,
      // Root alone may do everything anyway, and the kernel asks less when it does not check.
      defaultPermissions: allowOther || process.getuid?.() !== 0,
      mounter,
    })
    this.#fd = fd
    this.#startDaemon()
  }

  /** Hands everything in, then unmounts. Before it is usable there is nothing to hand in. */
  stop(): void {
    this.#isStopping = true
    if (this.#isReady) this.#daemon?.send({ type: 'stop' })
    else this.#daemon?.kill('SIGKILL')
  }

  #startDaemon(): void {
    const { file, args } = this.#command
    const log = openSync(join(this.#config.directory, 'daemon.log'), 'a', 0o600)
    const daemon = spawn(file, args, {
      stdio: ['ignore', log, log, this.#fd, 'ipc'],
      cwd: '/',
    })
    closeSync(log)
    this.#daemon = daemon
    writeState(this.#config, daemon.pid)
    daemon.send({ config: this.#config, init: this.#init })
    daemon.on('message', (message: DaemonMessage) => void this.#hear(message))
    // Stopped before there was a daemon that could be.
    if (this.#isStopping && !this.#isReady) daemon.kill('SIGKILL')
    daemon.once('exit', (code, signal) => void this.#replace(code, signal))
  }

  async #hear(message: DaemonMessage): Promise<void> {
    if (message.type === 'init') this.#init = message.info
    if (message.type === 'ready') {
      this.#isReady = true
      if (this.#isStopping) this.stop()
      await this.#openOnce()
      this.#ready.resolve()
    }
    if (message.type === 'failed') this.#failure = message.message
    if (message.type === 'unmount')
      await this.#unmount().catch((error: Error) => {
        this.#daemon?.send({ type: 'busy', message: error.message })
      })
  }

  /**
   * Only a first open tells the kernel that it need not ask for opens, and then it leaves out the releases as well:
   * until then making a file costs a fifth request. Whatever becomes of it, others will open files.
   */
  async #openOnce(): Promise<void> {
    const path = join(this.#config.mountPoint, '.cairn', 'status')
    const file = await open(path).catch(() => undefined)
    await file?.close()
  }

  /** 0: unmounted and handed in. A daemon that was never ready would fail again. */
  async #replace(code: number | null, signal: NodeJS.Signals | null): Promise<void> {
    if (code === 0) return this.#end()
    if (!this.#isReady || this.#isHopeless()) {
      await this.#unmount({ lazy: true }).catch(() => undefined)
      const why = this.#failure ?? `the daemon ended with ${signal ?? `code ${code}`}`
      this.#ready.reject(new Error(why))
      return this.#end()
    }
    await new Promise((resolve) => setTimeout(resolve, restartPauseMs))
    this.#startDaemon()
  }

  #unmount({ lazy = false } = {}): Promise<void> {
    const { mountPoint, mounter } = this.#config
    return unmount(mountPoint, { lazy, mounter })
  }

  #isHopeless(): boolean {
    const now = Date.now()
    this.#restarts.push(now)
    while (this.#restarts[0]! < now - restartWindowMs) this.#restarts.shift()
    return this.#restarts.length > restartsMax
  }

  #end(): void {
    removeState(this.#config.directory)
    this.#ended.resolve()
  }
}

/** The first line it prints: usable, or why not. */
export type SupervisorReport = { readonly ready: true } | { readonly error: string }

/** The life of a supervisor's process in the background: its config comes over the standard input. Gives its exit code. */
export async function supervisorMain(command: DaemonCommand): Promise<number> {
  const chunks: Buffer[] = []
  for await (const chunk of process.stdin) chunks.push(chunk as Buffer)
  const config = JSON.parse(Buffer.concat(chunks).toString()) as MountConfig
  const supervisor = new Supervisor(config, command)
  process.on('SIGTERM', () => supervisor.stop())
  process.on('SIGINT', () => supervisor.stop())
  process.on('SIGHUP', () => undefined)
  try {
    await supervisor.start()
    await supervisor.ready
    await report({ ready: true })
    await supervisor.ended
    return 0
  } catch (error) {
    await report({ error: error instanceof Error ? error.message : String(error) })
    return 1
  }
}

function report(line: SupervisorReport): Promise<void> {
  return new Promise((resolve) =>
    process.stdout.write(`${JSON.stringify(line)}\n`, () => resolve()),
  )
}
