import { type ChildProcess, spawn } from 'node:child_process'
import type { Socket as Datagrams } from 'node:dgram'
import { Socket } from 'node:net'
import { getSystemErrorName } from 'node:util'

/** What native/net.c says. */
interface Message {
  readonly ready?: true
  readonly id?: number
  readonly errno?: number
  readonly gate?: number
  readonly names?: 1
  readonly address?: string
  readonly port?: number
}

export interface Gate {
  /** Inside, on 127.0.0.1: where the firewall turns connections to. */
  readonly port: number
  /** Questions for names. */
  readonly names: Datagrams
}

/** A connection that left for somewhere, and where to. */
export type OnLeaving = (socket: Socket, address: string, port: number) => void

/** Sockets of a jail's own network, used from here. */
export class Relay {
  readonly #child: ChildProcess
  readonly #ready = Promise.withResolvers<void>()
  readonly #waiting = new Map<number, PromiseWithResolvers<Socket>>()
  readonly #gate = Promise.withResolvers<Gate>()
  #names: Datagrams | undefined
  #onLeaving: OnLeaving | undefined
  #nextId = 1
  #waiters = 0

  constructor(helper: string, pid: number) {
    this.#child = spawn(helper, ['net', `${pid}`], {
      env: {},
      cwd: '/',
      stdio: ['ignore', 'ignore', 'ignore', 'ipc'],
    })
    this.#ready.promise.catch(() => undefined)
    this.#gate.promise.catch(() => undefined)
    this.#child.on('message', (message, handle) => this.#hear(message as Message, handle))
    this.#child.once('error', () => this.#end())
    this.#child.once('exit', () => this.#end())
    this.#child.unref()
    this.#child.channel?.unref()
  }

  connect(port: number): Promise<Socket> {
    return this.#wait(async () => {
      const answer = Promise.withResolvers<Socket>()
      const id = this.#nextId++
      this.#waiting.set(id, answer)
      this.#child.send({ connect: port, id })
      return answer.promise.finally(() => this.#waiting.delete(id))
    })
  }

  /** Once; then every connection that the firewall turns away from its way comes here. */
  openGate(onLeaving: OnLeaving): Promise<Gate> {
    return this.#wait(() => {
      this.#onLeaving = onLeaving
      this.#child.send({ gate: true })
      return this.#gate.promise
    })
  }

  /** A jail keeps the process alive only while a caller waits for an answer. */
  async #wait<T>(ask: () => Promise<T>): Promise<T> {
    this.#waiters++
    this.#child.channel?.ref()
    try {
      await this.#ready.promise
      return await ask()
    } finally {
      this.#waiters--
      if (this.#waiters === 0) this.#child.channel?.unref()
    }
  }

  close(): void {
    this.#names?.close()
    if (this.#child.connected) this.#child.disconnect()
  }

  #hear(message: Message, handle: unknown): void {
    if (message.ready) this.#ready.resolve()
    if (message.names) this.#names = handle as Datagrams
    if (message.gate !== undefined) this.#gate.resolve({ port: message.gate, names: this.#names! })
    if (message.address !== undefined)
      this.#onLeaving?.(handle as Socket, message.address, message.port!)
    if (message.id === undefined) return
    const answer = this.#waiting.get(message.id)
    if (handle instanceof Socket) answer?.resolve(handle)
    else answer?.reject(refuse(message.errno!))
  }

  #end(): void {
    const gone = new Error('cannot reach a port of the jail: it has ended')
    this.#ready.reject(gone)
    this.#gate.reject(gone)
    for (const answer of this.#waiting.values()) answer.reject(gone)
  }
}

function refuse(errno: number): Error {
  const code = getSystemErrorName(-errno)
  return Object.assign(new Error(`connect ${code} in the jail`), { code })
}
