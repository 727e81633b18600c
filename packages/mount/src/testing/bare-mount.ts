import { encodeBody, type Op, type Time, type View } from '@cairn/core'
import type { Ino, RescueOutcome } from '@cairn/protocol'
import type { Classes } from '../classes/classes.ts'
import type { Contents } from '../data/contents.ts'
import { Loader } from '../image/loader.ts'
import { LogPosition } from '../image/log-position.ts'
import { ImageMiss } from '../image/miss.ts'
import type { Caches } from '../kernel/caches.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { growthMax, QuotaRoom } from '../outbox/quota-room.ts'
import { Unseen } from '../outbox/unseen.ts'
import { decodeChangesAnswer } from '../session/answers.ts'
import { SessionClient } from '../session/client.ts'
import type { Reservation, SessionClock, Standing } from '../session/options.ts'
import { Refusal } from '../session/refusal.ts'
import type { Connect } from '../session/wire.ts'
import { Follower } from '../sync/follower.ts'
import { Holds } from '../sync/holds.ts'
import { SharingClient, sharingHandlers } from '../sync/sharing.ts'
import { Waiting } from '../sync/waiting.ts'
import { MountWriter } from '../sync/writer.ts'
import { wholeTree } from './whole-tree.ts'

const epoch: Time = { sec: 0, nsec: 0 }

export interface BareMountParts {
  readonly connect: Connect
  readonly clock: SessionClock
  readonly random: () => number
  readonly workspace: string
  readonly isInDoubt?: () => boolean
  /** Hears of what its programs are about to be told is done, and of the directories that it concerns. */
  readonly onAcknowledge: (op: Op, directories: readonly Ino[]) => void
  /** What became of that: its place in the log, or why it has none there. */
  readonly onSettled: (op: Op, outcome: { readonly seq: number } | Error) => void
  /** Has what was acknowledged sent some time later. */
  readonly later: (send: () => void) => void
}

/**
 * A mount without a kernel, a disk and a network: session, image, loader, follower and writer are the real ones. For
 * simulated worlds. It follows the log from the beginning, so it knows the whole tree until a change tells too little.
 */
export class BareMount {
  readonly session: SessionClient
  readonly sharing: SharingClient
  readonly rescues: RescueOutcome[] = []
  /** Why the server did not take something that was acknowledged, though its epoch was not over. */
  readonly refused: unknown[] = []
  readonly #parts: BareMountParts
  readonly #image = wholeTree()
  readonly #position = new LogPosition()
  readonly #room = new QuotaRoom()
  readonly #unseen = new Unseen()
  readonly #waiting = new Waiting()
  readonly #loader: Loader
  readonly #follower: Follower
  readonly #writer: MountWriter
  #isWhole = true
  /** Acknowledged, and not given to the session yet. */
  readonly #collected = new Set<() => void>()
  /** Acknowledged, and not known to be at the server. */
  readonly #unsettled = new Map<number, { readonly of: readonly Ino[]; over: Promise<unknown> }>()

  constructor(parts: BareMountParts) {
    this.#parts = parts
    const { connect, clock, random, workspace, isInDoubt } = parts
    this.session = new SessionClient({
      connect,
      clock,
      random,
      workspace,
      branch: 'main',
      mode: 'share',
      ...(isInDoubt ? { isInDoubt } : {}),
    })
    this.sharing = new SharingClient({
      image: this.#image,
      caches,
      isKnown: () => true,
      isNew: () => false,
      ask: (question) => this.session.ask(question),
      whenReached: (seq) => this.#position.whenReached(seq),
      whenSent: (inos) => this.#whenSent(inos),
      forgetInKernel: nothing,
      forgetDropped: nothing,
      shares: true,
    })
    this.#loader = new Loader({
      image: this.#image,
      position: this.#position,
      ask: (question) => this.session.ask(question),
      look: (ino) => this.sharing.look(ino),
      forgotten: async () => undefined,
      count: async () => undefined,
      nowMs: () => 0,
    })
    this.#follower = this.#makeFollower()
    this.#writer = this.#makeWriter()
    this.#startSession()
  }

  /** The tree, as this mount knows it. */
  get view(): View {
    return this.#image
  }

  /** No change told too little. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** It has taken in the log up to here. */
  get seq(): number {
    return this.#position.seq
  }

  get standing(): Standing {
    if (this.session.canAcknowledge) return this.#follower.isCurrent ? 'lease' : 'waiting'
    return this.session.standing === 'shared' ? 'shared' : 'waiting'
  }

  /** So much was acknowledged and is not known to be at the server. */
  get unsettled(): number {
    return this.#unsettled.size
  }

  /** Whether it tells its programs, without asking, that a change there is done. */
  acknowledgesIn(directory: Ino): boolean {
    if (!this.session.canAcknowledge || !this.#image.knows(directory)) return false
    return this.sharing.isMine(directory)
  }

  /** Whether it shows what it knows of the directory without a look. */
  takesForKnown(directory: Ino): boolean {
    return this.#image.knowsDirectory(directory) && this.sharing.isFresh(directory)
  }

  /** Resolves when programs are told that it is done; rejects with the errno. */
  change(make: () => Op): Promise<void> {
    return this.withLoads(async () => this.#writer.change(make, { request: 0 }))
  }

  /** Does it again with what it misses. */
  async withLoads<T>(what: () => T | Promise<T>): Promise<T> {
    for (;;)
      try {
        return await what()
      } catch (error) {
        if (!(error instanceof ImageMiss)) throw error
        await this.#loader.load(error)
      }
  }

  #clear(): void {
    this.#isWhole = false
    this.#image.clear()
  }

  #startSession(): void {
    const wake = (): void => this.#waiting.wake()
    this.session.start({
      ...sharingHandlers(this.sharing, this.session),
      onBatch: (bytes) => this.#follower.onBatch(bytes),
      onOwn: (number, seq) => {
        this.#room.settle(number)
        this.#follower.onOwn(number, seq)
      },
      onRoom: (room) => this.#room.hear(room),
      onShare: async (share) => {
        if (this.#room.hearShare(share)) return
        this.#send()
        await Promise.all([...this.#unsettled.values()].map(({ over }) => over))
      },
      onRefused: (why) => this.refused.push(why),
      onRecall: () => this.#send(),
      onStanding: () => {
        if (!this.session.canAcknowledge) this.#send()
        wake()
      },
      onRescue: (outcome) => {
        this.rescues.push(outcome)
        this.#room.forget()
        this.#clear()
      },
    })
  }

  #makeFollower(): Follower {
    return new Follower({
      image: this.#image,
      contents: { find: nothing, drop: nothing } as unknown as Contents,
      loader: this.#loader,
      position: this.#position,
      caches,
      isAcknowledged: (number) => this.#unseen.take(number),
      changesAt: async (seq) =>
        decodeChangesAnswer(await this.session.ask({ type: 'changes', seq })),
      keep: nothing,
      seen: (seq) => this.session.seen(seq),
      onMade: (directory) => this.sharing.noteMadeElsewhere(directory),
      onCurrent: () => this.#waiting.wake(),
      reset: () => this.#clear(),
      nodes: {
        isKnown: () => true,
        isNew: () => false,
        isFile: () => true,
        replace: () => false,
        replaceAll: nothing,
      },
      doubt: nothing,
    })
  }

  #makeWriter(): MountWriter {
    const { session, sharing } = this
    const image = this.#image
    const outbox = this.#makeOutbox()
    return new MountWriter({
      image,
      contents: { of: () => ({ put: nothing, truncate: nothing }) } as unknown as Contents,
      outbox,
      follower: this.#follower,
      sharing,
      contested: { note: nothing },
      classes: { deferralOf: nothing } as unknown as Classes,
      room: this.#room,
      holds: new Holds(image, { isKnown: () => false }, { settled: 0 }, session),
      standing: () => this.standing,
      isConnected: () => session.isConnected,
      whenStanding: () => this.#waiting.next(),
      submit: (op) => this.#submit(op),
      barrier: (seq) => session.barrier(seq),
      waits: false,
      onRefused: nothing,
      refusal: new Refusal(),
      grant: undefined,
      limit: nothing,
    })
  }

  /** Each operation is a batch of its own: so others may come between any two. */
  #makeOutbox(): Outbox {
    const deferrals = { find: nothing, releaseBefore: nothing, release: nothing }
    const drain = async (): Promise<void> => {
      this.#send()
      await Promise.all([...this.#unsettled.values()].map(({ over }) => over))
    }
    const outbox = {
      isFull: false,
      pendingOps: 0,
      deferrals,
      drain,
      sync: drain,
      flushNow: () => this.#send(),
      whenRoom: drain,
      add: (op: Op, _request: number, directories: readonly Ino[]) => {
        this.#parts.onAcknowledge(op, directories)
        return { number: this.#take(op, directories), place: undefined }
      },
    } satisfies Partial<Record<keyof Outbox, unknown>>
    return outbox as unknown as Outbox
  }

  #take(op: Op, of: readonly Ino[]): number {
    const reservation = this.session.reserve()
    const { number } = reservation
    this.#unseen.add(number, new Set(of))
    const over = reservation.settled.then(
      (receipt) => this.#parts.onSettled(op, receipt),
      (error: Error) => this.#parts.onSettled(op, error),
    )
    this.#unsettled.set(number, { of, over: over.then(() => this.#unsettled.delete(number)) })
    this.#collect(reservation, op)
    return number
  }

  #collect(reservation: Reservation, op: Op): void {
    const send = (): void => {
      if (this.#collected.delete(send))
        reservation.send(encodeBody({ type: 'ops', ops: [op] }, timeOf(op)))
    }
    this.#collected.add(send)
    this.#parts.later(send)
  }

  /** All of it, in order. */
  #send(): void {
    for (const send of this.#collected) send()
  }

  /** Counted from its place in the log on, as what is acknowledged is. */
  async #submit(op: Op): Promise<{ readonly seq: number }> {
    const settled = this.session.submit([op], timeOf(op))
    const number = this.session.lastNumber
    this.#room.take(number, growthMax(op))
    try {
      return await settled
    } catch (error) {
      this.#room.drop(number)
      throw error
    }
  }

  async #whenSent(inos: readonly Ino[]): Promise<void> {
    const meant = [...this.#unsettled.values()].filter(({ of }) =>
      of.some((ino) => inos.includes(ino)),
    )
    if (meant.length === 0) return
    this.#send()
    await Promise.all(meant.map(({ over }) => over))
  }
}

const nothing = (): undefined => undefined

const caches: Caches = {
  attributes: nothing,
  bytes: nothing,
  entry: nothing,
  lookedUp: nothing,
  isForgetting: () => false,
  forgotten: async () => undefined,
  grown: nothing,
  expire: nothing,
  canExpire: () => true,
  telling: async () => undefined,
  settled: async () => undefined,
  filesSettled: async () => undefined,
}

function timeOf(op: Op): Time {
  return 'time' in op ? op.time : epoch
}
