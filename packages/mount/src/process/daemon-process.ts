import { spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import { Socket } from 'node:net'
import type { FuseIo } from '../fuse/native.ts'
import { Channel } from './channel.ts'
import type { DaemonMessage, DaemonStart, SupervisorMessage } from './config.ts'
import { openDaemonLog } from './daemon-log.ts'

/** How a daemon is started: the same program, told to be one. */
export interface DaemonCommand {
  readonly file: string
  readonly args: readonly string[]
}

/** A daemon that waits to be told what to be, and the sockets by which it is reached. */
export interface WaitingDaemon {
  readonly pid: number
  /** What its sockets for a descriptor, messages and output are connected to: descriptors, in that order. */
  readonly sockets: readonly [descriptor: number, channel: number, output: number]
}

/**
 * Starts one before anybody knows what to mount: what a mount takes is mostly the time until its processes have loaded.
 * Whoever does may hand it on to a supervisor that is still loading itself.
 */
export function startDaemon({ file, args }: DaemonCommand, io: FuseIo): WaitingDaemon {
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
  return { pid: child.pid ?? 0, sockets: [descriptor[0], channel[0], output[0]] }
}

function socketPair(io: FuseIo): [number, number] {
  const pair = io.socketPair()
  if (typeof pair === 'number') throw new Error(`cannot start a daemon: errno ${-pair}`)
  return pair
}

/** A daemon as its supervisor has it. */
export class DaemonProcess {
  readonly pid: number
  readonly channel: Channel<DaemonMessage, DaemonStart | SupervisorMessage>
  /** Whether it had done all there was to do. */
  readonly ended: Promise<boolean>
  readonly #io: FuseIo
  readonly #descriptor: number
  readonly #output: Socket
  #isRunning = true

  constructor({ pid, sockets: [descriptor, channel, output] }: WaitingDaemon, io: FuseIo) {
    this.pid = pid
    this.#io = io
    this.#descriptor = descriptor
    this.#output = new Socket({ fd: output, readable: true, writable: false })
    this.channel = new Channel(channel)
    let isDone = false
    this.channel.listen(({ type }) => (isDone ||= type === 'done'))
    this.ended = this.channel.closed.then(() => {
      this.#isRunning = false
      return isDone
    })
  }

  /** What it prints goes to `daemon.log` in the mount's directory. */
  begin(fd: number, start: Omit<DaemonStart, 'type' | 'supervisorPid'>): void {
    this.#output.pipe(openDaemonLog(start.config.directory))
    this.#io.sendFd(this.#descriptor, fd)
    closeSync(this.#descriptor)
    this.channel.send({ type: 'start', supervisorPid: process.pid, ...start })
  }

  kill(): void {
    if (this.#isRunning && this.pid > 0) process.kill(this.pid, 'SIGKILL')
  }
}
