import { errno, errnoOf, isOrdinary, RawErrno } from './errno.ts'
import type { FuseFileSystem } from './file-system.ts'
import {
  type InitInfo,
  keepsLocks,
  mapsDirectFiles,
  maxWriteBytes,
  negotiate,
  writeInit,
} from './init.ts'
import { opcode } from './opcodes.ts'
import type { AnyOperation, OperationContext, ChangedNode } from './operation.ts'
import { operations } from './operations.ts'
import { type Parked, ParkedRequests } from './parked.ts'
import { Reply } from './reply.ts'
import type { Request } from './request.ts'
import { RequestMemory } from './request-memory.ts'

export interface DispatchOptions {
  /** Seconds the kernel may remember that a name is not there. */
  readonly negativeTtl?: number
  /** Locks are asked of the file system. Costs a round trip or two for each open and close. */
  readonly locks?: boolean
  /** How long a parked request may take, unless it changes something, syncs or locks; then it is ETIMEDOUT. */
  readonly deadlineMs?: number
  /** Kernel and daemon have agreed. */
  readonly onInit?: (info: InitInfo) => void
  /** INIT was answered by an earlier process, on the same descriptor: what it was told in `onInit`. */
  readonly resumed?: InitInfo
  /** Outlives this process, for those who then wait for an answer: see `RequestMemory`. */
  readonly memory?: ArrayBuffer | undefined
  /** Something that is no errno was thrown; the program that asked sees EIO. */
  readonly onError?: (error: unknown, request: string) => void
  /**
   * A change succeeded after its caller was told that it had not (killed, or too late). What the kernel
   * remembers of it is wrong: invalidate it.
   */
  readonly onLateChange?: (touched: ChangedNode) => void
}

/** The request in the buffer is answered later. */
export const parked = -1

/** What the dispatcher needs of the descriptor for answers that come late: the reply buffer is sent. */
export type SendReply = (length: number, payload: Uint8Array | undefined) => void

/** Between the kernel's wire and the file system: one request in the buffer, one reply in another. */
export class Dispatcher {
  readonly request: Request
  readonly reply: Reply = new Reply(maxWriteBytes + 4096)
  readonly context: OperationContext
  readonly #options: DispatchOptions
  readonly #send: SendReply
  readonly #memory: RequestMemory
  readonly #parked: ParkedRequests
  /** Until it is there, whatever is asked of the file system waits. */
  #opening: Promise<void> | undefined

  constructor(
    fs: FuseFileSystem | Promise<FuseFileSystem>,
    options: DispatchOptions,
    send: SendReply,
  ) {
    this.#options = options
    this.#send = send
    this.#memory = new RequestMemory(options.memory)
    this.request = this.#memory.request
    this.context = {
      fs: fs as FuseFileSystem,
      locks: false,
      writesDirectly: false,
      negativeTtl: options.negativeTtl ?? 0,
    }
    if (fs instanceof Promise) {
      this.#opening = this.#open(fs)
      this.#opening.catch(() => undefined)
    }
    if (options.resumed !== undefined) this.#agree(options.resumed)
    this.#parked = new ParkedRequests(
      this.#memory,
      options.deadlineMs ?? 60_000,
      (parked, reason) => this.#refuse(parked, reason),
    )
  }

  get parkedCount(): number {
    return this.#parked.size
  }

  /** Gives the bytes to send from the reply buffer; 0: there is no reply; `parked`: not yet. */
  handle(length: number): number {
    const { request, reply } = this
    request.begin(length)
    const operation = operations[request.opcode]
    if (operation === undefined) return this.#handleOther()
    if (this.#opening !== undefined) return this.#hold(operation, this.#opening)
    const { uniqueLow, uniqueHigh } = request
    try {
      const answer = operation.call(this.context, request)
      if (answer instanceof Promise) return this.#park(operation, answer)
      reply.begin()
      const refusal = operation.write?.(reply, answer, this.context)
      operation.end?.(answer)
      if (refusal) return reply.fail(uniqueLow, uniqueHigh, refusal)
      return reply.finish(uniqueLow, uniqueHigh)
    } catch (error) {
      return reply.fail(uniqueLow, uniqueHigh, this.#judge(error, operation.name))
    }
  }

  /** Tells those who wait for an answer of an earlier process that none will come. */
  refuseLeft(): void {
    for (const [low, high] of this.#memory.takeLeft())
      this.#send(this.reply.fail(low, high, errno.EIO), undefined)
  }

  /** The kernel has let go of everything. */
  end(): void {
    if (this.#opening === undefined) this.context.fs.destroy()
  }

  /** No caller can be answered any more. */
  close(): void {
    this.#parked.clear()
  }

  /** The requests that are not questions to the file system. */
  #handleOther(): number {
    const { request, reply } = this
    switch (request.opcode) {
      case opcode.forget:
        return this.#forget(request.nodeid, request.u64(40))
      case opcode.batchForget: {
        const end = 48 + request.u32(40) * 16
        for (let at = 48; at < end; at += 16) this.#forget(request.u64(at), request.u64(at + 8))
        return 0
      }
      case opcode.interrupt:
        this.#parked.interrupt(request.u32(40), request.u32(44))
        return 0
      case opcode.init:
        return this.#init()
      default: {
        const refusal = request.opcode === opcode.ioctl ? errno.ENOTTY : errno.ENOSYS
        return reply.fail(request.uniqueLow, request.uniqueHigh, refusal)
      }
    }
  }

  async #open(fs: Promise<FuseFileSystem>): Promise<void> {
    this.context.fs = await fs
    this.#opening = undefined
  }

  /** Calls the file system once it is there, unless the caller has gone by then. */
  #hold(operation: AnyOperation, opening: Promise<void>): number {
    const request = this.request.copy()
    const isWaiting = (): boolean => this.#parked.has(request)
    const answer = opening.then(() =>
      isWaiting()
        ? operation.call(this.context, request)
        : Promise.reject(new RawErrno(errno.EINTR)),
    )
    return this.#park(operation, answer)
  }

  #forget(nodeid: number, count: number): 0 {
    if (this.#opening !== undefined) {
      void this.#opening.then(
        () => this.#forget(nodeid, count),
        () => undefined,
      )
      return 0
    }
    try {
      this.context.fs.forget(nodeid, count)
    } catch (error) {
      this.#options.onError?.(error, 'FORGET')
    }
    return 0
  }

  #init(): number {
    const { request, reply } = this
    const info = negotiate(request, this.#options.locks ?? false)
    if (info === undefined) return reply.fail(request.uniqueLow, request.uniqueHigh, errno.EPROTO)
    this.#agree(info)
    this.#options.onInit?.(info)
    reply.begin()
    writeInit(reply, info)
    return reply.finish(request.uniqueLow, request.uniqueHigh)
  }

  #agree(info: InitInfo): void {
    this.context.locks = keepsLocks(info)
    this.context.writesDirectly = mapsDirectFiles(info)
  }

  #park(operation: AnyOperation, answer: Promise<unknown>): number {
    const request = this.#parked.add(operation, this.request)
    answer.then(
      (value) => this.#settle(request, value),
      (error: unknown) => {
        if (this.#parked.take(request)) this.#refuse(request, this.#judge(error, operation.name))
      },
    )
    return parked
  }

  #settle(parked: Parked, value: unknown): void {
    const { operation, uniqueLow, uniqueHigh } = parked
    if (!this.#parked.take(parked)) return void this.#takeBack(parked, value)
    try {
      this.reply.begin()
      const refusal = operation.write?.(this.reply, value, this.context)
      if (refusal) this.#refuse(parked, refusal)
      else this.#answer(parked, this.reply.finish(uniqueLow, uniqueHigh))
    } catch (error) {
      this.#refuse(parked, this.#judge(error, operation.name))
    } finally {
      operation.end?.(value)
    }
  }

  /** No caller waits for it any more. */
  async #takeBack({ operation, touches }: Parked, value: unknown): Promise<void> {
    try {
      await operation.undo?.(this.context, value)
      for (const touched of touches) this.#options.onLateChange?.(touched)
    } catch (error) {
      this.#judge(error, operation.name)
    } finally {
      operation.end?.(value)
    }
  }

  #refuse(parked: Parked, reason: number): void {
    this.#answer(parked, this.reply.fail(parked.uniqueLow, parked.uniqueHigh, reason))
  }

  /** Its note goes last: a process that dies in between leaves it, and a second answer does no harm. */
  #answer({ note }: Parked, length: number): void {
    this.#send(length, this.reply.payload)
    this.#memory.clear(note)
  }

  #judge(error: unknown, request: string): number {
    if (!isOrdinary(error)) this.#options.onError?.(error, request)
    return errnoOf(error)
  }
}
