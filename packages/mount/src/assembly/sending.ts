import type { Ino } from '@cairn/protocol'
import { Segments } from '../data/segments.ts'
import { Spool } from '../data/spool.ts'
import type { FuseIo } from '../fuse/native.ts'
import { openOutbox } from '../open-outbox.ts'
import { DoneBefore } from '../outbox/done-before.ts'
import type { Outbox } from '../outbox/outbox.ts'
import { growthMax, QuotaRoom } from '../outbox/quota-room.ts'
import type { PutBlob } from '../outbox/seal.ts'
import { Submitter } from '../outbox/submitter.ts'
import { Unseen } from '../outbox/unseen.ts'
import { untilAnswered } from '../session/retry.ts'
import { describeProgress } from '../sync/progress-notes.ts'
import { type MountSession, sleep } from './mount-session.ts'

/** Takes changes to the server: acknowledged ones from the spool, others before they are acknowledged. */
export class Sending {
  readonly segments: Segments
  readonly spool: Spool
  /** How much larger the tree may become, as far as it is known here. */
  readonly room: QuotaRoom = new QuotaRoom()
  readonly outbox: Outbox
  readonly submitter: Submitter
  /** What the process before this one did for requests that the kernel sends again. */
  readonly doneBefore: DoneBefore | undefined
  readonly unseen: Unseen = new Unseen()
  readonly #session: MountSession

  constructor(session: MountSession, io: FuseIo) {
    this.#session = session
    const { options, recovered, client, position } = session
    const { cacheDirectory: directory, cacheBytes: bytesMax } = options
    this.segments = new Segments({ directory, bytesMax, io, head: () => this.#progress() })
    this.segments.skipTo(recovered ? recovered.lastSegment + 1 : 0)
    this.spool = new Spool(this.segments)
    for (const { number, ops } of recovered?.pending ?? [])
      for (const op of ops) this.room.take(number, growthMax(op))
    const putBlob: PutBlob = (bytes) =>
      untilAnswered(() => client.ask({ type: 'blob', bytes }), sleep)
    this.submitter = new Submitter({
      session: client,
      spool: this.spool,
      room: this.room,
      putBlob,
      whenReached: (seq) => position.whenReached(seq),
    })
    this.doneBefore =
      recovered && new DoneBefore(recovered.requests, () => this.submitter.closeLog())
    this.outbox = openOutbox({
      options,
      session: client,
      segments: this.segments,
      room: this.room,
      putBlob,
      recovered,
      unseen: this.unseen,
      onRescued: (error) => session.note(error),
      onRefused: (error) => session.giveUp(error),
    })
  }

  /** Writes down how far everything has come, for the process that comes after this one. */
  noteProgress(): void {
    this.segments.append(this.#progress())
  }

  /** Whether the image may have more of a directory than the log. */
  isPending(directory: Ino): boolean {
    return this.unseen.concerns(directory) || this.outbox.deferrals.concerns(directory)
  }

  #progress(): Uint8Array[] {
    return describeProgress(this.#session.client, this.outbox, this.#session.position)
  }
}
