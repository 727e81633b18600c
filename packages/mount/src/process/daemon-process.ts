import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { FuseIo } from '../fuse/native.ts'
import { Channel } from './channel.ts'
import type { DaemonMessage, DaemonStart, SupervisorMessage } from './config.ts'
import { openDaemonLog } from './daemon-log.ts'
import { isRunning, markProcess } from './state.ts'

/** How a daemon is started: the same program, told to be one. */
export interface DaemonCommand {
  readonly file: string
  readonly args: readonly string[]
}

/** A daemon, and the descriptors of what its sockets are connected to. */
export interface StartedDaemon {
  readonly pid: number
  /** For messages. */
  readonly channel: number
  readonly output: number
  /** For /dev/fuse and the memory, until they were sent. */
  readonly descriptor?: number
}

/**
 * Starts a daemon, which waits for its configuration. You can start it before you know what to
 * mount: most of the time of a mount is the time until its processes have loaded.
 */
export function startDaemon({ file, args }: DaemonCommand, io: FuseIo): StartedDaemon {
  const [descriptor, channel, output] = [socketPair(io), socketPair(io), socketPair(io)]
  const theirs = [descriptor[1], channel[1], output[1]]
  const child = spawn(file, args, {
    stdio: ['ignore', output[1], output[1], descriptor[1], channel[1]],
    cwd: '/',
    detached: true,
  })
  // One that could not be started is one that ended at once: its sockets say so.
  child.once('error', () => undefined)
  child.unref()
  for (const socket of theirs) closeSync(socket)
  return {
    pid: child.pid ?? 0,
    channel: channel[0],
    output: output[0],
    descriptor: descriptor[0],
  }
}

export function socketPair(io: FuseIo): [number, number] {
  const pair = io.socketPair()
  if (typeof pair === 'number') throw new Error(`cannot start a process of a mount: errno ${-pair}`)
  return pair
}

const lookMs = 1000

/**
 * Its sockets may stay open though it was killed: the thread that notifies the kernel may be
 * waiting there for a program that waits for the daemon. Only the next daemon can answer that
 * program, so do not wait for the last thread.
 */
function whenDead(pid: number): Promise<void> {
  const mark = markProcess(pid)
  return new Promise((resolve) => {
    const look = setInterval(() => {
      if (mark && isRunning(mark)) return
      clearInterval(look)
      resolve()
    }, lookMs).unref()
  })
}

/** A daemon as its supervisor has it. */
export class DaemonProcess {
  readonly pid: number
  readonly channel: Channel<DaemonMessage, DaemonStart | SupervisorMessage>
  /** Whether it had done all there was to do. */
  readonly ended: Promise<boolean>
  readonly started: StartedDaemon
  readonly #io: FuseIo
  #output: Socket | undefined
  #isRunning = true

  constructor(started: StartedDaemon, io: FuseIo) {
    this.pid = started.pid
    this.#io = io
    this.started = started
    this.channel = new Channel(started.channel)
    let isDone = false
    this.channel.listen(({ type }) => (isDone ||= type === 'done'))
    this.ended = Promise.race([this.channel.closed, whenDead(started.pid)]).then(() => {
      this.#isRunning = false
      return isDone
    })
  }

  /** With /dev/fuse, and the memory of requests that were read from it. */
  begin(fd: number, memory: number, start: Omit<DaemonStart, 'type'>): void {
    const { descriptor = -1 } = this.started
    for (const each of [fd, memory]) this.#io.sendFd(descriptor, each)
    closeSync(descriptor)
    this.channel.send({ type: 'start', ...start })
  }

  /** What it prints, and has printed since it began, goes to `daemon.log` in the mount's directory. */
  keepLog(directory: string): void {
    this.#output = new Socket({ fd: this.started.output, readable: true, writable: false })
    this.#output.pipe(openDaemonLog(directory))
  }

  /** Another process has it from now on, with its own descriptors of the same sockets. */
  leave(): void {
    this.channel.leave()
    this.#output?.unpipe()
    this.#output?.destroy()
  }

  kill(): void {
    if (this.#isRunning && this.pid > 0) process.kill(this.pid, 'SIGKILL')
  }
}
