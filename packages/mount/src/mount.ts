import { mkdirSync } from 'node:fs'
import { isBelow, namesOf } from '@cairn/core'
import { type Grant, isCairnError } from '@cairn/protocol'
import { now } from './clock.ts'
import { Classes } from './classes/classes.ts'
import { Contents } from './data/contents.ts'
import { fetchAtServer } from './data/fetch-at-server.ts'
import { Segments } from './data/segments.ts'
import { Spool } from './data/spool.ts'
import { MountedFileSystem } from './filesystem/mounted-file-system.ts'
import { KernelNodes } from './kernel/nodes.ts'
import { type Owners, swapOwners } from './kernel/owners.ts'
import { seekAtServer } from './filesystem/seek.ts'
import { ToldFile } from './kernel/told-file.ts'
import { type FuseIo, loadFuseIo } from './fuse/native.ts'
import { Image } from './image/image.ts'
import { Loader } from './image/loader.ts'
import { shareLocks } from './locks/share-locks.ts'
import type { SharedLocks } from './locks/shared-locks.ts'
import { Notes } from './notes.ts'
import { openOutbox } from './open-outbox.ts'
import type { Outbox } from './outbox/outbox.ts'
import { isOld, noteReleased, pendingNames, recover, type Recovered } from './outbox/recover.ts'
import { Submitter } from './outbox/submitter.ts'
import type { PutBlob } from './outbox/seal.ts'
import { type SealedBatch, sealPending } from './outbox/seal-pending.ts'
import { DoneBefore } from './outbox/done-before.ts'
import { whenHandedIn } from './outbox/when-handed-in.ts'
import { removeSession, writeSessionWhenRoom } from './outbox/session-file.ts'
import {
  type ConflictAnswer,
  decodeChangesAnswer,
  decodeConflictsAnswer,
} from './session/answers.ts'
import { SessionClient } from './session/client.ts'
import { Refusal, whyRefused } from './session/refusal.ts'
import { untilAnswered } from './session/retry.ts'
import { whenJoined } from './session/when-joined.ts'
import type { Caches } from './kernel/caches.ts'
import { durabilities } from './sync/durability.ts'
import { Follower } from './sync/follower.ts'
import { forgetInKernel } from './kernel/forget-in-kernel.ts'
import { Holds } from './sync/holds.ts'
import { type InodeNumbers, inodeNumbersAt } from './sync/inode-numbers.ts'
import type { MountOptions } from './mount-options.ts'
import type { MountStatus } from './mount-status.ts'
import { modeOf, sessionOptionsOf } from './session-options-of.ts'
import { statusOf } from './status-of.ts'
import { describeProgress, ProgressNotes } from './sync/progress-notes.ts'
import { growthMax, QuotaRoom } from './outbox/quota-room.ts'
import { SharingClient, sharingHandlers } from './sync/sharing.ts'
import { Waiting } from './sync/waiting.ts'
import { MountWriter } from './sync/writer.ts'

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))
const guessAfterMs = 100
/** So long programs wait for a new process to take in what others did, before they see what the kernel remembers. */
const catchUpMs = 500

/** A workspace's directory, ready to be asked by the kernel. */
export class Mount {
  readonly fileSystem: MountedFileSystem
  readonly #session: SessionClient
  readonly #segments: Segments
  readonly #spool: Spool
  readonly #submitter: Submitter
  readonly #image = new Image()
  readonly #contents: Contents
  readonly #loader: Loader
  readonly #outbox: Outbox
  readonly #follower: Follower
  readonly #holds: Holds
  readonly #sharing: SharingClient
  readonly #classes: Classes
  readonly #numbers: InodeNumbers
  readonly #told: ToldFile
  readonly #nodes: KernelNodes
  readonly #caches: Caches
  readonly #options: MountOptions
  readonly #owners: Owners
  readonly #doneBefore: DoneBefore | undefined
  readonly #notes: Notes
  /** Own batches that are in the image and not yet seen in the log. */
  readonly #acknowledged = new Set<number>()
  readonly #waiting = new Waiting()
  readonly #room = new QuotaRoom()
  readonly #refusal = new Refusal()
  readonly #locks: SharedLocks | undefined
  #wasConnected = false
  /** The layer's path, where more than that is mounted. */
  #limit: string | undefined
  readonly #progress: ProgressNotes

  /** Connects, brings to the server what an earlier process left behind, and is then ready. */
  static async open(options: MountOptions): Promise<Mount> {
    mkdirSync(options.cacheDirectory, { recursive: true, mode: 0o700 })
    const recovered = recover(options.cacheDirectory)
    if (recovered) await noteReleased(options.cacheDirectory, recovered, sleep)
    const pending = recovered ? await sealPending({ ...options, clock: { sleep } }, recovered) : []
    const mount = new Mount(options, await loadFuseIo(), recovered, pending)
    try {
      await mount.#begin(recovered)
      return mount
    } catch (error) {
      mount.#session.abandon()
      throw error
    }
  }

  private constructor(
    options: MountOptions,
    io: FuseIo,
    recovered: Recovered | undefined,
    pending: readonly SealedBatch[],
  ) {
    const { waits } = durabilities[options.durability]
    this.#options = options
    this.#notes = new Notes(options.cacheDirectory)
    this.#owners = swapOwners(options.uid, options.gid)
    this.#doneBefore =
      recovered && new DoneBefore(recovered.requests, () => this.#submitter.closeLog())
    this.#segments = new Segments({
      directory: options.cacheDirectory,
      bytesMax: options.cacheBytes,
      io,
      head: this.#describeProgress,
    })
    this.#segments.skipTo(recovered ? recovered.lastSegment + 1 : 0)
    this.#spool = new Spool(this.#segments)
    for (const { number, ops } of recovered?.pending ?? [])
      for (const op of ops) this.#room.take(number, growthMax(op))
    this.#session = this.#connect(options, recovered, pending)
    const session = this.#session
    const putBlob: PutBlob = (bytes) =>
      untilAnswered(() => session.ask({ type: 'blob', bytes }), sleep)
    this.#submitter = new Submitter({
      session,
      spool: this.#spool,
      room: this.#room,
      putBlob,
      whenReached: (seq) => this.#whenReached(seq),
    })
    this.#loader = new Loader({
      image: this.#image,
      ask: (question) => this.#refusal.unlessRefused(session.ask(question)),
      look: (ino) => this.#sharing.look(ino),
    })
    this.#outbox = this.#openOutbox(options, putBlob, recovered)
    const keep: Spool['keep'] = (bytes) => this.#spool.keep(bytes)
    this.#contents = new Contents({
      segments: this.#segments,
      fetch: fetchAtServer((question) => this.#refusal.unlessRefused(session.ask(question))),
      whenSettled: (number) => this.#outbox.whenSettled(number),
      keep,
    })
    this.#told = new ToldFile(options.cacheDirectory, io)
    this.#nodes = new KernelNodes(this.#image, this.#owners, this.#told)
    this.#caches = options.caches((ino) => this.#nodes.nodeid(ino))
    this.#classes = new Classes(this.#image, () => this.#nodes.root, options.profile)
    this.#holds = new Holds(this.#image, this.#nodes, this.#outbox, session)
    this.#sharing = this.#makeSharing(modeOf(options, recovered) === 'share')
    this.#follower = this.#makeFollower(keep, recovered)
    const noteProgress = (): unknown => this.#segments.append(this.#describeProgress())
    this.#progress = new ProgressNotes(this.#follower, noteProgress)
    this.#numbers = inodeNumbersAt(session)
    const writer = this.#makeWriter(waits === 'write', options.grant)
    this.fileSystem = this.#makeFileSystem(writer, waits !== 'nothing')
    if (options.sharedLocks)
      this.#locks = shareLocks(this.fileSystem, this.#nodes, {
        session,
        whenCurrent: (seq) => this.#whenCurrent(seq),
        note: (message) => this.note(message),
        sleep,
      })
  }

  #makeSharing(shares: boolean): SharingClient {
    return new SharingClient({
      image: this.#image,
      caches: this.#caches,
      ask: (question) => this.#refusal.unlessRefused(this.#session.ask(question)),
      whenReached: (seq) => this.#whenReached(seq),
      whenSent: (inos) => this.#outbox.whenSent(inos),
      forgetInKernel: this.#forgetInKernel,
      shares,
    })
  }

  #openOutbox(options: MountOptions, putBlob: PutBlob, recovered: Recovered | undefined): Outbox {
    return openOutbox({
      options,
      session: this.#session,
      segments: this.#segments,
      room: this.#room,
      putBlob,
      recovered,
      acknowledged: this.#acknowledged,
      onRescued: (error) => this.note(error),
      onRefused: (error) => this.#giveUp(error),
    })
  }

  #makeFollower(keep: Spool['keep'], recovered: Recovered | undefined): Follower {
    return new Follower({
      image: this.#image,
      contents: this.#contents,
      loader: this.#loader,
      caches: this.#caches,
      isAcknowledged: (number) => this.#acknowledged.delete(number) || isOld(number, recovered),
      changesAt: async (seq) =>
        decodeChangesAnswer(await this.#session.ask({ type: 'changes', seq })),
      keep,
      seen: (seq) => this.#session.seen(seq),
      onBatch: (batch) => this.#notes.noteBatch(batch),
      onCurrent: () => this.#waiting.wake(),
      reset: () => this.#reset(),
      nodes: this.#nodes,
      doubt: () => {
        this.#nodes.forgetBefore(this.#caches)
        this.#holds.doubt()
      },
    })
  }

  /** Resolves when this mount and its kernel show all that the log has up to there, and the session may write. */
  async #whenCurrent(seq: number): Promise<void> {
    await this.#waiting.until(() => this.#standing !== 'waiting' && this.#loader.seq >= seq)
    await this.#caches.settled()
  }

  #makeWriter(waits: boolean, grant: Grant | undefined): MountWriter {
    return new MountWriter({
      image: this.#image,
      contents: this.#contents,
      outbox: this.#outbox,
      follower: this.#follower,
      sharing: this.#sharing,
      classes: this.#classes,
      room: this.#room,
      holds: this.#holds,
      standing: () => this.#standing,
      isConnected: () => this.#session.isConnected,
      whenStanding: () => this.#waiting.next(),
      submit: (op, request) => this.#submitter.submit(op, request),
      barrier: (seq) => this.#session.barrier(seq),
      waits,
      onRefused: (error) => this.note(error),
      refusal: this.#refusal,
      grant,
      limit: () => this.#limit,
    })
  }

  #whenReached(seq: number): Promise<void> {
    return this.#waiting.until(() => this.#loader.seq >= seq)
  }

  #makeFileSystem(writer: MountWriter, syncs: boolean): MountedFileSystem {
    return new MountedFileSystem({
      image: this.#image,
      contents: this.#contents,
      loader: this.#loader,
      nodes: this.#nodes,
      writer,
      contact: this.#options.contact,
      sharing: this.#sharing,
      classes: this.#classes,
      room: this.#room,
      numbers: this.#numbers,
      now,
      askSeek: seekAtServer((question) => this.#refusal.unlessRefused(this.#session.ask(question))),
      owners: this.#owners,
      caches: this.#caches,
      findDone: async (request) => this.#doneBefore?.find(request),
      syncs,
    })
  }

  get status(): MountStatus {
    return statusOf({
      session: this.#session,
      standing: this.#standing,
      outbox: this.#outbox,
      cacheBytes: this.#segments.bytes,
      knownInodes: this.#image.inodeCount,
      seq: this.#loader.seq,
      refusal: this.#refusal,
      notes: this.#notes,
    })
  }

  /** What a commit of the layer would meet now; undefined where no server can say. */
  async conflicts(): Promise<readonly ConflictAnswer[] | undefined> {
    if (!this.#session.isConnected) return undefined
    return decodeConflictsAnswer(await this.#session.ask({ type: 'conflicts' }))
  }

  /** Records what went wrong, for the mount's status. */
  note(error: unknown, operation = ''): void {
    this.#notes.noteError(error, operation)
  }

  /** Resolves when everything acknowledged so far is at the server; rejects when that will not take it. */
  async drain(): Promise<void> {
    try {
      await this.#refusal.unlessRefused(this.#outbox.drain())
    } catch (error) {
      if (!this.#refusal.why || this.#outbox.pendingOps > 0) throw this.#refusal.why ?? error
    }
  }

  /** Hands everything in and says goodbye. Nothing local is left. */
  async close(): Promise<void> {
    await this.drain()
    // No one answers for the last request, which was refused here.
    await this.#refusal.unlessRefused(this.#session.close()).catch(() => this.#session.abandon())
    this.#progress.end()
    this.#locks?.close()
    this.#segments.removeAll()
    this.#told.remove()
    this.#notes.remove()
    removeSession(this.#options.cacheDirectory)
  }

  /** Ends without a word to the server. What is in the spool stays there. */
  abandon(): void {
    this.#session.abandon()
    this.#progress.end()
    this.#locks?.close()
  }

  /** The lease holder builds on everything that came before it. */
  get #standing(): 'lease' | 'shared' | 'waiting' {
    if (this.#session.canAcknowledge) return this.#follower.isCurrent ? 'lease' : 'waiting'
    return this.#session.standing === 'shared' ? 'shared' : 'waiting'
  }

  #connect(
    options: MountOptions,
    recovered: Recovered | undefined,
    pending: readonly SealedBatch[],
  ): SessionClient {
    return new SessionClient({
      ...sessionOptionsOf(options, recovered, pending),
      clock: { sleep },
      onBatch: (bytes) => this.#follower.onBatch(bytes),
      onOwn: (number, seq) => {
        this.#room.settle(number)
        this.#doneBefore?.own(number)
        this.#follower.onOwn(number, seq)
      },
      holds: () => this.#holds.list(),
      onRoom: (room) => this.#room.hear(room),
      onWithin: (path) => {
        this.#limit = isBelow(namesOf(options.path), namesOf(path)) ? undefined : path
      },
      onRefused: (why) => this.note(why),
      // The next holder must see everything.
      onRecall: () => this.#outbox.deferrals.release(),
      onStanding: () => this.#onStanding(),
      ...sharingHandlers(() => ({ sharing: this.#sharing, seq: this.#session.seq })),
      onRescue: (outcome) => this.#onRescue(outcome, recovered),
      onOver: (why) => this.#onOver(why),
    })
  }

  async #begin(recovered: Recovered | undefined): Promise<void> {
    const handedIn = whenHandedIn(this.#session, recovered)
    // Awaited after the welcome, which may fail before.
    handedIn.catch(() => undefined)
    const { session, seq, root } = await this.#session.welcomed
    this.#nodes.root = root
    const begun = recovered?.seq ?? seq
    this.#follower.begin(begun)
    const note = { session, lastNumber: this.#session.lastNumber, seq: begun }
    await writeSessionWhenRoom(this.#options.cacheDirectory, note, sleep)
    await handedIn
    // The kernel waits for us meanwhile, and in the worst case with what it must forget: then it is told later.
    const told = this.#follower.whenSettled(seq).then(() => this.#caches.settled())
    if (recovered) await Promise.race([told, sleep(catchUpMs)])
    this.#progress.note()
    recovered?.forget()
    if (recovered) await this.#locks?.recall()
    if (recovered) this.#holds.doubt()
    // With its top known, a mount can be worked in even if the server goes away at once.
    const top = this.#loader.load({ what: 'directory', ino: root }).catch(() => undefined)
    const joined =
      !this.#options.readOnly && !recovered ? whenJoined(this.#session, seq, sleep) : undefined
    await Promise.all([top, joined, this.#options.readOnly ? undefined : this.#numbers.refill()])
    // A prefetch. The first request must not wait for it.
    void sleep(guessAfterMs).then(() => this.#loader.loadNear(root).catch(() => undefined))
    void this.#progress.keepNoting()
  }

  #onStanding(): void {
    const { isConnected } = this.#session
    if (isConnected && !this.#wasConnected)
      this.#locks?.reassert().catch((error) => this.note(error))
    this.#wasConnected = isConnected
    if (isConnected && this.#refusal.why) {
      this.#refusal.end()
      this.#options.onAccess?.(true)
    }
    if (!this.#session.canAcknowledge) this.#outbox.flushNow()
    this.#waiting.wake()
  }

  /**
   * Neither the branch nor a rescue layer takes what was acknowledged. It stays in the spool, programs get an error,
   * and no client waits for this session's lease.
   */
  #giveUp(error: unknown): void {
    const why = whyRefused(error)
    this.note(why)
    this.#session.abandon()
    this.#refusal.begin(why)
    this.#waiting.wake()
  }

  /** What was not handed in stays in the spool. Should access come back, it goes on from there. */
  #onOver(why: unknown): void {
    const isRefused = isCairnError(why, 'access_ended') || isCairnError(why, 'unauthenticated')
    if (!isRefused || this.#refusal.why) return
    this.#refusal.begin(why)
    this.note(why)
    this.#options.onAccess?.(false)
    this.#forgetInKernel()
    this.#waiting.wake()
  }

  /** What was acknowledged is not on the branch as it was: everything is looked at anew. */
  #onRescue(outcome: string, recovered: Recovered | undefined): void {
    this.#notes.noteRescue(outcome)
    this.#room.forget()
    this.#reset()
    for (const { parent, name } of pendingNames(recovered)) this.#caches.entry(parent, name)
  }

  #reset(): void {
    this.#forgetInKernel()
    this.#image.clear()
    this.#contents.clear()
    this.#holds.doubt()
  }

  readonly #forgetInKernel = (): void => forgetInKernel(this.#image, this.#nodes, this.#caches)

  readonly #describeProgress = (): Uint8Array[] =>
    describeProgress(this.#session, this.#outbox, this.#follower)
}
