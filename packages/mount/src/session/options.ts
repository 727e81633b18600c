import type { Usage } from '@cairn/core'
import type { ByteString, Ino, RescueOutcome, SessionReply } from '@cairn/protocol'
import type { Taken, Unanswered } from './submissions.ts'
import type { Connect } from './wire.ts'

export interface SessionClock {
  /** Resolves after about that long. */
  sleep(ms: number): Promise<void>
}

export interface SessionOptions {
  readonly connect: Connect
  readonly clock: SessionClock
  readonly workspace: string
  readonly branch: string
  /** `share`: a writer that gives single directories back, with `onYield` and `onForget`. */
  readonly mode: 'read' | 'write' | 'share'
  /** A checkpoint: the branch as it was then, to be read. `branch` may then be empty. */
  readonly at?: string | undefined
  /** The directory whose inode the first welcome tells. */
  readonly path?: ByteString
  /** Begins with where the branch stands, and hears of what comes after; else with the whole log. */
  readonly startsAtHead?: boolean
  /** Goes on with the session of a process that ended without a word. */
  readonly resume?: Resume
  /** Whether its lease may be over without its knowledge: until the next welcome nothing is acknowledged under it. */
  readonly isInDoubt?: () => boolean
  /** Between 0 and 1, for not coming back at the same moment as all other clients. */
  readonly random?: () => number
}

/** What a session tells the program that it serves, and asks it. */
export interface SessionEvents {
  /** The files without a name that are open; asked before each renewal. */
  readonly holds?: () => readonly Ino[]
  /** Hears of every batch of the branch that is not its own, in order with `onOwn`, once. */
  readonly onBatch?: (bytes: Uint8Array) => void
  /** Hears where in the log its own batches stand. */
  readonly onOwn?: (number: number, seq: number) => void
  /**
   * Called when nothing more may be acknowledged under the lease: complete your reservations now.
   */
  readonly onRecall?: () => void
  /** Hears that `standing`, `canAcknowledge` or `isConnected` has changed. */
  readonly onStanding?: () => void
  /**
   * Hears that it has the lease: alone or beside other writers, and whether it is a new one. `joined`: it comes to the epoch
   * of other holders.
   */
  readonly onLease?: (isAlone: boolean, isNew: boolean | 'joined') => void
  /**
   * Hears how it stands over a new connection, when it has no lease. Beside a holder, what it knew counts only after a
   * look; otherwise it knows all that the batches it was sent tell.
   */
  readonly onShared?: (isBeside: boolean) => void
  /** Gives directories back: resolves when all that was acknowledged there is at the server. */
  readonly onYield?: (inos: readonly Ino[]) => Promise<void>
  /** Forgets directories that the holder is about to change: resolves when nothing of them is shown without a look. */
  readonly onForget?: (inos: readonly Ino[]) => Promise<void>
  /** Hears how much larger the tree may become, where that is limited, in order with `onOwn`. */
  readonly onRoom?: (room: Extract<SessionReply, { type: 'room' }>) => void
  /** It may count on so much of the room. Resolves when the server has what was acknowledged beyond it. */
  readonly onShare?: (share: Usage) => Promise<void>
  /** Hears where alone it may change something, before it has any standing. Nothing is said where that is everywhere. */
  readonly onWithin?: (path: string) => void
  /** Hears why something that was acknowledged is not taken by the branch, though its lease is in force. */
  readonly onRefused?: (why: Error) => void
  /** Hears that a connection is over, and why if the server said so. */
  readonly onOver?: (why: unknown) => void
  /** Hears where the late writes of a lost lease went. */
  readonly onRescue?: (outcome: RescueOutcome) => void
}

export interface Resume {
  readonly session: string
  /** The newest batch it had taken in. */
  readonly seq: number
  /** The highest number it may have used. */
  readonly lastNumber: number
  readonly pending: readonly Unanswered[]
}

export type WelcomeReply = Extract<SessionReply, { type: 'welcome' }>

export interface Welcome {
  readonly session: string
  /** Where the branch stood. */
  readonly seq: number
  readonly root: Ino
}

/** A place in the line of what a session submits, taken before what will stand there is complete. */
export interface Reservation {
  readonly number: number
  /** The epoch of the lease under which everything in it is acknowledged. */
  readonly epoch: number
  /** Resolves once it is at the server; see `submit`. */
  readonly settled: Promise<Taken>
  /** Nothing behind it is sent before this. */
  readonly send: (body: Uint8Array) => void
}

export type Standing = 'lease' | 'shared' | 'waiting'
