import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import type { ByteString } from '@cairn/protocol'
import { putU64 } from './encode.ts'
import { notifierWorkerText } from './notifier-worker.ts'

const code = { invalidateInode: 2, invalidateEntry: 3, store: 4, delete: 6 } as const
const expireOnly = 1

interface NotifierSetup {
  readonly fd: number
  /** How many were written, in its one element. */
  readonly written: Int32Array
}

/** Notifications to write, each of which begins with its length; a number to report back once all before it are written, or the end. */
type NotifierMessage = Uint8Array | number | 'end'
type NotifierReport = { readonly settled: number } | { readonly failed: string }

/**
 * Tells the kernel what changed behind its back. In order, one after the other, and never from the thread that
 * answers requests. A notification waits for requests in flight in its directory, and all later ones with it:
 * `queued` says how many.
 */
export class Notifier {
  readonly #fd: number
  readonly #onError: ((error: Error) => void) | undefined
  #started: Worker | undefined
  readonly #online = Promise.withResolvers<void>()
  readonly #written = new Int32Array(new SharedArrayBuffer(4))
  readonly #waiting = new Map<number, () => void>()
  /** What the kernel can do, as soon as it has said so. */
  canExpire = false
  #posted = 0
  #barriers = 0
  /** Notifications of this turn, for one message: a message to the thread costs more than a notification. */
  #gathered: Uint8Array[] = []
  #isOpen = true

  /** `fd` stays open until `close` has settled. */
  constructor(fd: number, onError?: (error: Error) => void) {
    this.#fd = fd
    this.#onError = onError
  }

  /** Its thread, at the latest when there is something to tell: before a mount is usable it would be in the way. */
  start(): Worker {
    this.#started ??= this.#startWorker()
    return this.#started
  }

  #startWorker(): Worker {
    const setup: NotifierSetup = { fd: this.#fd, written: this.#written }
    const worker = new Worker(notifierWorkerText, { eval: true, workerData: setup })
    // A notification that hangs must not keep the process from ending.
    worker.unref()
    worker.on('message', (report: NotifierReport) => {
      if ('settled' in report) this.#settle(report.settled)
      else this.#onError?.(new Error(`cannot notify the kernel: ${report.failed}`))
    })
    worker.on('error', (error) => this.#onError?.(error as Error))
    worker.on('online', () => this.#online.resolve())
    worker.on('exit', () => this.#settleAll())
    return worker
  }

  /** Notifications so far. */
  get posted(): number {
    return this.#posted
  }

  /** Notifications not yet written. */
  get queued(): number {
    return this.#posted - Atomics.load(this.#written, 0)
  }

  /** Whether the first so many have been written. */
  hasWritten(posted: number): boolean {
    return !this.#isOpen || Atomics.load(this.#written, 0) >= posted
  }

  /** Drops attributes and pages; `length` 0: to the end. */
  invalidateInode(nodeid: number, offset = 0, length = 0): void {
    const words = begin(code.invalidateInode, 40)
    putU64(words, 4, nodeid)
    putU64(words, 6, offset)
    putU64(words, 8, length)
    this.#post(words)
  }

  /** Drops attributes and keeps pages. */
  invalidateAttributes(nodeid: number): void {
    this.invalidateInode(nodeid, -1)
  }

  /** Puts a byte into the kernel's pages. A file that ended before it ends with it. */
  store(nodeid: number, offset: number, byte: number): void {
    const words = begin(code.store, 40 + 1)
    putU64(words, 4, nodeid)
    putU64(words, 6, offset)
    words[8] = 1
    words[10] = byte
    this.#post(words)
  }

  /** Drops a name, also one remembered as absent. */
  invalidateEntry(parent: number, name: ByteString): void {
    this.#postEntry(parent, name, 0)
  }

  /** A name is looked up when it is used next. For kernels that `canExpire`. */
  expireEntry(parent: number, name: ByteString): void {
    this.#postEntry(parent, name, expireOnly)
  }

  #postEntry(parent: number, name: ByteString, flags: number): void {
    const words = begin(code.invalidateEntry, 32 + name.length + 1)
    putU64(words, 4, parent)
    words[6] = name.length
    words[7] = flags
    this.#post(words, name, 32)
  }

  /** The name is gone, and `nodeid` was its inode: watchers of the file are notified, too. */
  deleteEntry(parent: number, nodeid: number, name: ByteString): void {
    const words = begin(code.delete, 40 + name.length + 1)
    putU64(words, 4, parent)
    putU64(words, 6, nodeid)
    words[8] = name.length
    this.#post(words, name, 40)
  }

  /** Whatever was given before is being written, if it is not yet. */
  writing(): Promise<void> {
    return this.#isOpen && this.queued > 0 ? this.#online.promise : Promise.resolve()
  }

  /** All that were given before are written. */
  settled(): Promise<void> {
    if (!this.#isOpen || this.queued === 0) return Promise.resolve()
    const barrier = ++this.#barriers
    return new Promise((resolve) => {
      this.#waiting.set(barrier, resolve)
      this.#hold()
      this.#send(barrier)
    })
  }

  /** Writes what is queued, then ends. */
  async close(): Promise<void> {
    if (!this.#isOpen) return
    this.#isOpen = false
    const worker = this.#started
    if (!worker) return
    worker.ref()
    const ended = once(worker, 'exit')
    this.#send('end')
    await ended
  }

  #post(words: Uint32Array, name?: ByteString, nameAt = 0): void {
    if (!this.#isOpen) return
    const bytes = Buffer.from(words.buffer, 0, words[0])
    if (name !== undefined) bytes.write(name, nameAt, 'latin1')
    this.#posted++
    if (this.#gathered.push(bytes) === 1) queueMicrotask(() => this.#sendGathered())
  }

  #sendGathered(): void {
    const gathered = this.#gathered
    this.#gathered = []
    if (gathered.length > 0) this.start().postMessage(Buffer.concat(gathered))
  }

  #send(message: Exclude<NotifierMessage, Uint8Array>): void {
    this.#sendGathered()
    this.start().postMessage(message)
  }

  #settle(barrier: number): void {
    this.#waiting.get(barrier)?.()
    this.#waiting.delete(barrier)
    this.#hold()
  }

  /** After an end, expected or not, waiters would never settle. */
  #settleAll(): void {
    this.#isOpen = false
    this.#online.resolve()
    for (const resolve of this.#waiting.values()) resolve()
    this.#waiting.clear()
  }

  /** The process lives while a caller waits. */
  #hold(): void {
    if (this.#waiting.size > 0) this.start().ref()
    else this.#started?.unref()
  }
}

/** A header in as many words as `bytes` need: length, code in the place of the errno, no number. */
function begin(notification: number, bytes: number): Uint32Array {
  const words = new Uint32Array((bytes + 3) >> 2)
  words[0] = bytes
  words[1] = notification
  return words
}
