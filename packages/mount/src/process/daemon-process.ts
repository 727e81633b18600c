import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync } from 'node:fs'
import type { FuseIo } from '../fuse/native.ts'
import type { DaemonStart } from './config.ts'
import { openDaemonLog } from './daemon-log.ts'

/** How a daemon is started: the same program, told to be one. */
export interface DaemonCommand {
  readonly file: string
  readonly args: readonly string[]
}

/**
 * A daemon that waits to be told what to be. It is started before anybody knows that: what a mount takes is mostly
 * the time until its processes have loaded.
 */
export class DaemonProcess {
  readonly child: ChildProcess
  readonly #io: FuseIo
  readonly #socket: number

  constructor({ file, args }: DaemonCommand, io: FuseIo) {
    const pair = io.socketPair()
    if (typeof pair === 'number') throw new Error(`cannot start a daemon: errno ${-pair}`)
    const [ours, theirs] = pair
    this.#io = io
    this.#socket = ours
    this.child = spawn(file, args, { stdio: ['ignore', 'pipe', 'pipe', theirs, 'ipc'], cwd: '/' })
    closeSync(theirs)
  }

  /** What it prints goes to `daemon.log` in the mount's directory. */
  begin(fd: number, start: DaemonStart): void {
    const log = openDaemonLog(start.config.directory)
    this.child.stdout!.pipe(log)
    this.child.stderr!.pipe(log)
    this.#io.sendFd(this.#socket, fd)
    closeSync(this.#socket)
    this.child.send(start)
  }
}
