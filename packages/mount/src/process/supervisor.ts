import { spawn } from 'node:child_process'
import { closeSync, mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { mountFuse, unmount } from '../fuse/mounting.ts'
import { fromFailure } from '@cairn/protocol'
import { type FuseIo, loadFuseIo } from '../fuse/native.ts'
import { mountFailure } from './mount-failure.ts'
import type { DaemonMessage, MountConfig } from './config.ts'
import { type DaemonCommand, DaemonProcess, startDaemon } from './daemon-process.ts'
import { startGuard } from './guard.ts'
import { removeState, writeState } from './state.ts'

/** What there is of a mount once it can be worked in. */
export interface UsableMount {
  /** /dev/fuse. */
  readonly fd: number
  /** Holds requests that a daemon has read: the next daemon answers them. */
  readonly memory: number
  /** Held open for as long as the connection shall live; undefined where there is no guard. */
  readonly guard: number | undefined
  /** What came of INIT, for the daemons to come. */
  readonly init: unknown
  readonly daemon: DaemonProcess
}

const restartsMax = 10
const restartWindowMs = 10 * 60_000
const restartPauseMs = 200
/** How soon something is tried again that may go on for long: a full disk, a program that stays in the mount. */
const retryMs = 1000

export interface SupervisorOptions {
  /** A daemon that is loading already. */
  readonly warm?: DaemonProcess
  /** Told to stop, it could not unmount, and why. It tries again. */
  readonly onBusy?: (why: string) => void
  /** The mount is not usable yet, because of this. */
  readonly onWaiting?: (what: string) => void
}

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
  readonly #onBusy: SupervisorOptions['onBusy']
  readonly #onWaiting: SupervisorOptions['onWaiting']
  #fd = -1
  #memory = -1
  #init: unknown
  #warm: DaemonProcess | undefined
  #daemon: DaemonProcess | undefined
  #isReady = false
  /** Another process has taken over. */
  #isLeft = false
  #opened: Promise<void> = Promise.resolve()
  #guard: number | undefined
  #isStopping = false
  #hasEnded = false
  #failure: Error | undefined
  #givenUp: string | undefined
  #lastEvent = performance.now()

  constructor(
    config: MountConfig,
    command: DaemonCommand,
    { warm, onBusy, onWaiting }: SupervisorOptions = {},
  ) {
    this.#config = config
    this.#command = command
    this.#warm = warm
    this.#onBusy = onBusy
    this.#onWaiting = onWaiting
    this.#ready.promise.catch(() => undefined)
  }

  /** Resolves when the mount is usable. */
  get ready(): Promise<void> {
    return this.#ready.promise
  }

  /** Resolves when the mount is gone and everything is at the server, when it is given up, or another process has it. */
  get ended(): Promise<void> {
    return this.#ended.promise
  }

  /** Why it starts no more daemons; undefined while it does. */
  get givenUp(): string | undefined {
    return this.#givenUp
  }

  async start(): Promise<void> {
    const { mountPoint, directory, readOnly, allowOther, workspace } = this.#config
    const { mounter, replacesDead } = this.#config
    mkdirSync(directory, { recursive: true, mode: 0o700 })
    this.#warm ??= await this.#startLoading()
    try {
      writeState(this.#config, { daemonPid: this.#warm.pid })
      this.#memory = openMemory(await loadFuseIo())
      const { fd } = await mountFuse(mountPoint, {
        fsName: `cairn:${workspace}`,
        readOnly,
        allowOther,
        // Root alone may do everything anyway, and the kernel asks less when it does not check.
        defaultPermissions: allowOther || process.getuid?.() !== 0,
        mounter,
        replacesDead,
      })
      this.#fd = fd
      this.#opened = this.#openOnce()
      this.#guard = await startGuard(fd, mountPoint).catch(() => undefined)
    } catch (error) {
      this.#warm.kill()
      this.#end()
      throw error
    }
    await this.#startDaemon()
  }

  /** Goes on with a mount that another process has made usable. */
  adopt({ fd, memory, guard, init, daemon }: UsableMount): void {
    this.#fd = fd
    this.#memory = memory
    this.#guard = guard
    this.#init = init
    daemon.keepLog(this.#config.directory)
    this.#keep(daemon)
    this.#becomeReady()
  }

  /** Once it is usable: what another process needs to adopt it. */
  get usable(): UsableMount {
    return {
      fd: this.#fd,
      memory: this.#memory,
      guard: this.#guard,
      init: this.#init,
      daemon: this.#daemon!,
    }
  }

  /** Another process has adopted it. Nothing is heard or done here from now on. */
  leave(): void {
    this.#isLeft = true
    this.#daemon!.leave()
    this.#ended.resolve()
  }

  /** Hands everything in, then unmounts. Before it is usable there is nothing to hand in. */
  stop(): void {
    this.#isStopping = true
    if (this.#isReady) this.#daemon?.channel.send({ type: 'stop' })
    else this.#daemon?.kill()
  }

  /**
   * Resolves when nothing has happened for as long as deaths count. Another process can then go on without knowing what
   * was before. Never after `stop`.
   */
  async untilCalm(): Promise<void> {
    for (;;) {
      const left = this.#lastEvent + restartWindowMs - performance.now()
      if (left <= 0 && this.#isReady && !this.#isStopping) return
      await new Promise((resolve) => setTimeout(resolve, left > 0 ? left : restartWindowMs).unref())
    }
  }

  /** At once, even while programs use it. Writes that were not sent stay in the spool. */
  async cutOff(): Promise<void> {
    this.#isLeft = true
    await this.#unmount({ lazy: true }).catch(() => undefined)
    this.#daemon?.kill()
    removeState(this.#config.directory)
  }

  async #startDaemon(): Promise<void> {
    const daemon = this.#warm ?? (await this.#startLoading())
    this.#warm = undefined
    daemon.keepLog(this.#config.directory)
    this.#keep(daemon)
    daemon.begin(this.#fd, this.#memory, { config: this.#config, init: this.#init })
    // Stopped before there was a daemon that could be.
    if (this.#isStopping && !this.#isReady) daemon.kill()
  }

  #keep(daemon: DaemonProcess): void {
    this.#daemon = daemon
    this.#noteState()
    daemon.channel.listen((message) => void this.#hear(message))
    void daemon.ended.then((isDone) => {
      if (this.#isLeft) return
      return isDone ? this.#end() : this.#replace()
    })
  }

  /** For others to see. A full disk must not end a mount: then it is written later. */
  #noteState(): void {
    if (this.#isLeft || this.#hasEnded) return
    try {
      writeState(this.#config, { daemonPid: this.#daemon!.pid })
    } catch {
      setTimeout(() => this.#noteState(), retryMs).unref()
    }
  }

  async #startLoading(): Promise<DaemonProcess> {
    const io = await loadFuseIo()
    return new DaemonProcess(startDaemon(this.#command, io), io)
  }

  async #hear(message: DaemonMessage): Promise<void> {
    this.#lastEvent = performance.now()
    if (message.type === 'init') this.#init = message.info
    if (message.type === 'waiting') this.#onWaiting?.(message.what)
    if (message.type === 'ready') this.#becomeReady()
    if (message.type === 'failed') this.#failure = fromFailure(message.failure)
    if (message.type === 'unmount')
      await this.#unmount().catch((error: Error) => this.#stayBusy(error))
  }

  /**
   * The caller that stopped it is gone, or waits for nothing else. Meanwhile more may have been
   * written.
   */
  #stayBusy(error: Error): void {
    this.#daemon?.channel.send({ type: 'busy', failure: mountFailure(error) })
    if (!this.#isStopping) return
    this.#onBusy?.(error.message)
    setTimeout(() => this.stop(), retryMs)
  }

  /** Not before our own reader has left the mount: an unmount right after mounting would find it busy. */
  #becomeReady(): void {
    this.#isReady = true
    if (this.#isStopping) this.stop()
    void this.#opened.then(() => this.#ready.resolve())
  }

  /**
   * Only a first open tells the kernel that it need not ask for opens, and then it leaves out the releases as well:
   * until then making a file costs a fifth request. Another process opens the file, because a process that holds
   * /dev/fuse must not wait for an answer: killed together with the daemon, neither that thread nor the mount would
   * ever end. It starts before the daemon is ready and waits in the kernel, so that it costs no time of its own.
   */
  #openOnce(): Promise<void> {
    const path = join(this.#config.mountPoint, '.cairn', 'status')
    const reader = spawn('cat', [path], { stdio: 'ignore', cwd: '/' })
    return new Promise((resolve) => {
      reader.once('exit', () => resolve())
      reader.once('error', () => resolve())
    })
  }

  /** A daemon that was never ready would fail again. */
  async #replace(): Promise<void> {
    while (this.#isReady && !this.#isHopeless()) {
      await new Promise((resolve) => setTimeout(resolve, restartPauseMs))
      if (this.#isLeft) return
      try {
        return await this.#startDaemon()
      } catch (error) {
        this.#failure = error as Error
      }
    }
    const why = this.#failure ?? new Error('the daemon ended without a word')
    if (this.#isReady) return this.#giveUp(why.message)
    await this.#unmount({ lazy: true }).catch(() => undefined)
    this.#ready.reject(why)
    this.#end()
  }

  /**
   * Leaves the mount in its place and closes /dev/fuse, so that every call fails. Unmounted, programs would go on in the
   * directory below and write to the local disk without noticing. The spool stays, and the state tells why.
   */
  #giveUp(why: string): void {
    this.#givenUp = `its daemon died ${restartsMax + 1} times in ten minutes; the last time: ${why}`
    this.#hasEnded = true
    try {
      const daemonPid = this.#daemon!.pid
      writeState(this.#config, { daemonPid, givenUp: this.#givenUp })
    } catch {
      // The disk is full. Without the reason the mount looks like one that was killed.
    }
    this.#letGo()
  }

  async #unmount({ lazy = false } = {}): Promise<void> {
    const { mountPoint, mounter } = this.#config
    // Our own file would be in the way.
    if (!lazy) await this.#opened
    await unmount(mountPoint, { lazy, mounter })
  }

  #isHopeless(): boolean {
    const now = Date.now()
    this.#restarts.push(now)
    while (this.#restarts[0]! < now - restartWindowMs) this.#restarts.shift()
    return this.#restarts.length > restartsMax
  }

  #end(): void {
    this.#hasEnded = true
    removeState(this.#config.directory)
    this.#letGo()
  }

  /** The guard then aborts the connection, and callers that still wait for an answer get an error. */
  #letGo(): void {
    for (const fd of [this.#fd, this.#memory, this.#guard ?? -1]) if (fd >= 0) closeSync(fd)
    this.#ended.resolve()
  }
}

function openMemory(io: FuseIo): number {
  const fd = io.openMemory()
  if (fd < 0) throw new Error(`cannot start a process of a mount: errno ${-fd}`)
  return fd
}
