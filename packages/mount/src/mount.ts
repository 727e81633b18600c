import { encodeTrace, type Ino, isKnownRequest } from '@cairn/protocol'
import { mkdirSync } from 'node:fs'
import { answering } from './assembly/answering.ts'
import { Following } from './assembly/following.ts'
import { type Assemblies, mountEvents } from './assembly/mount-events.ts'
import { MountSession, sleep } from './assembly/mount-session.ts'
import { Reading } from './assembly/reading.ts'
import { Sending } from './assembly/sending.ts'
import { Writing } from './assembly/writing.ts'
import type { MountedFileSystem } from './filesystem/mounted-file-system.ts'
import type { Fsmonitor } from './fsmonitor/fsmonitor.ts'
import { type FuseIo, loadFuseIo } from './fuse/native.ts'
import type { MountOptions } from './mount-options.ts'
import type { MountStatus } from './mount-status.ts'
import { noteReleased, recover, type Recovered } from './outbox/recover.ts'
import { type SealedBatch, sealPending } from './outbox/seal-pending.ts'
import { removeSession, writeSessionWhenRoom } from './outbox/session-file.ts'
import { whenHandedIn } from './outbox/when-handed-in.ts'
import { type ConflictAnswer, decodeConflictsAnswer } from './session/answers.ts'
import type { Welcome } from './session/options.ts'
import { whenJoined } from './session/when-joined.ts'
import { statusOf } from './status-of.ts'
import { prefetch } from './sync/prefetch.ts'
import { reportDirectories } from './sync/directory-report.ts'
import type { ToolCalls } from './tool-calls/tool-calls.ts'

const guessAfterMs = 100
/** So much of what earlier mounts read is fetched ahead. */
const aheadBytesMax = 32 << 20
/** So long programs wait for a new process to take in what others did, before they see what the kernel remembers. */
const catchUpMs = 500

/** A workspace's directory, ready to be asked by the kernel. */
export class Mount {
  readonly fileSystem: MountedFileSystem
  readonly fsmonitor: Fsmonitor
  readonly #parts: Assemblies

  /** Connects, brings to the server what an earlier process left behind, and is then ready. */
  static async open(options: MountOptions): Promise<Mount> {
    mkdirSync(options.cacheDirectory, { recursive: true, mode: 0o700 })
    const recovered = recover(options.cacheDirectory)
    if (recovered) await noteReleased(options.cacheDirectory, recovered, sleep)
    const pending = recovered ? await sealPending({ ...options, clock: { sleep } }, recovered) : []
    const mount = new Mount(options, await loadFuseIo(), recovered, pending)
    try {
      await mount.#begin()
      return mount
    } catch (error) {
      mount.#parts.session.client.abandon()
      throw error
    }
  }

  /** Each assembly builds on those before it. The session starts last: it calls into all of them. */
  private constructor(
    options: MountOptions,
    io: FuseIo,
    recovered: Recovered | undefined,
    pending: readonly SealedBatch[],
  ) {
    const session = new MountSession(options, recovered, pending)
    const sending = new Sending(session, io)
    const reading = new Reading(session, sending, io)
    const following = new Following(session, sending, reading)
    const writing = new Writing(session, sending, reading, following)
    this.#parts = { session, sending, reading, following, writing }
    this.fileSystem = answering(this.#parts)
    this.fsmonitor = reading.fsmonitor
    session.client.start(mountEvents(this.#parts))
  }

  get status(): MountStatus {
    const { session, sending, reading, following } = this.#parts
    return statusOf({
      session: session.client,
      standing: following.standing,
      directories: reportDirectories(reading.image, reading.sharing),
      outbox: sending.outbox,
      cacheBytes: sending.segments.bytes,
      knownInodes: reading.image.inodeCount,
      seq: session.position.seq,
      refusal: session.refusal,
      notes: session.notes,
    })
  }

  get toolCalls(): ToolCalls {
    return this.#parts.writing.toolCalls
  }

  /** What a commit of the layer would meet now; undefined where no server can say. */
  async conflicts(): Promise<readonly ConflictAnswer[] | undefined> {
    const { client } = this.#parts.session
    if (!client.isConnected) return undefined
    return decodeConflictsAnswer(await client.ask({ type: 'conflicts' }))
  }

  /** Whether what waits in local directories stays here: it is not drained, and not handed in when this closes. */
  keepsLocal = false

  /** Records what went wrong, for the mount's status. */
  note(error: unknown, operation?: string): void {
    this.#parts.session.note(error, operation)
  }

  /** Resolves when everything acknowledged so far is at the server; rejects when that will not take it. */
  async drain(): Promise<void> {
    const { session, sending } = this.#parts
    const { refusal } = session
    try {
      await refusal.unlessRefused(sending.outbox.drain({ keepsLocal: this.keepsLocal }))
    } catch (error) {
      if (!refusal.why) throw error
      if (sending.outbox.pendingOps > 0) throw refusal.why
    }
  }

  /**
   * Hands everything in and says goodbye. Nothing local is left, unless `keepsLocal`: what waits in local directories
   * stays in the spool then, as after a crash, for the next mount of this place.
   */
  async close(): Promise<void> {
    const { session, sending, reading } = this.#parts
    await this.drain()
    if (this.keepsLocal && sending.outbox.deferrals.status.local.ops > 0) return this.abandon()
    this.#sendTrace()
    // No one answers for the last request, which was refused here.
    await session.refusal
      .unlessRefused(session.client.close())
      .catch(() => session.client.abandon())
    this.#end()
    sending.segments.removeAll()
    reading.told.remove()
    session.notes.remove()
    removeSession(session.options.cacheDirectory)
  }

  /** Ends without a word to the server. What is in the spool stays there. */
  abandon(): void {
    this.#parts.session.client.abandon()
    this.#end()
  }

  #end(): void {
    this.#parts.following.progress.end()
    this.#parts.writing.locks?.close()
    this.#parts.writing.toolCalls.close()
  }

  async #begin(): Promise<void> {
    const { session, reading, following } = this.#parts
    const { client, recovered } = session
    const handedIn = whenHandedIn(client, recovered)
    // Awaited after the welcome, which may fail before.
    handedIn.catch(() => undefined)
    const welcome = await client.welcomed
    reading.nodes.root = welcome.root
    const begun = recovered?.seq ?? welcome.seq
    following.follower.begin(begun)
    const note = { session: welcome.session, lastNumber: client.lastNumber, seq: begun }
    await writeSessionWhenRoom(session.options.cacheDirectory, note, sleep)
    await handedIn
    if (recovered) await this.#catchUp(welcome, recovered)
    else following.progress.note()
    await this.#loadTop(welcome)
    void following.progress.keepNoting()
  }

  /** The kernel waits meanwhile, and in the worst case with what it must forget: then it is told later. */
  async #catchUp({ seq }: Welcome, recovered: Recovered): Promise<void> {
    const { session, reading, following, writing } = this.#parts
    const told = session.position.whenSettled(seq).then(() => reading.caches.settled())
    await Promise.race([told, sleep(catchUpMs)])
    following.progress.note()
    recovered.forget()
    await writing.locks?.recall()
    following.holds.doubt()
  }

  /** With its top known, a mount can be worked in even if the server goes away at once. */
  async #loadTop({ seq, root }: Welcome): Promise<void> {
    const { session, reading, writing } = this.#parts
    const { readOnly } = session.options
    const { loader } = reading
    const top = (['directory', 'inode'] as const).map((what) =>
      loader.load({ what, ino: root }).catch(() => undefined),
    )
    const isNew = !readOnly && !session.recovered
    const joined = isNew ? whenJoined(session.client, seq, sleep) : undefined
    await Promise.all([...top, joined, readOnly ? undefined : writing.numbers.refill()])
    void this.#prefetch(root).catch(() => undefined)
  }

  /** The first request must not wait for it. */
  async #prefetch(root: Ino): Promise<void> {
    const { session, reading } = this.#parts
    const { options, recovered, client } = session
    const { loader, contents, trace } = reading
    if (
      isKnownRequest('ahead', client.wire?.requestTypes ?? 0) &&
      !recovered &&
      options.at === undefined
    ) {
      trace.onBegin = (lastsMs) => void sleep(lastsMs).then(() => this.#sendTrace())
      const bytesMax = Math.min(aheadBytesMax, options.cacheBytes / 4)
      const nowMs = (): number => performance.now()
      await prefetch(root, { loader, contents, nowMs, bytesMax }).catch(() => undefined)
    }
    await sleep(guessAfterMs)
    await loader.loadNear(root)
  }

  /** What programs read first here, for the next mount of the directory. */
  #sendTrace(): void {
    const { session, reading } = this.#parts
    const { options, recovered, client } = session
    const { wire } = client
    const isHeard = wire && isKnownRequest('trace', wire.requestTypes ?? 0)
    if (options.readOnly || recovered || !isHeard) return
    const trace = reading.trace.take()
    const ino = reading.nodes.root
    if (trace.length > 0) wire.send({ type: 'trace', ino, bytes: encodeTrace(trace) })
  }
}
