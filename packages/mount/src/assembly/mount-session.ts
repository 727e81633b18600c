import { type CairnError, isCairnError } from '@cairn/protocol'
import { LogPosition } from '../image/log-position.ts'
import type { MountOptions } from '../mount-options.ts'
import { Notes } from '../notes.ts'
import type { Recovered } from '../outbox/recover.ts'
import type { SealedBatch } from '../outbox/seal-pending.ts'
import { sessionOptionsOf } from '../session-options-of.ts'
import { SessionClient } from '../session/client.ts'
import type { SessionQuestion } from '../session/questions.ts'
import { Refusal, whyRefused } from '../session/refusal.ts'
import { Waiting } from '../sync/waiting.ts'

export const sleep = (ms: number): Promise<void> =>
  new Promise((resolve) => setTimeout(resolve, ms))

/** A mount's session with the server, and what every other part must know about it. */
export class MountSession {
  readonly options: MountOptions
  readonly recovered: Recovered | undefined
  readonly client: SessionClient
  readonly refusal: Refusal = new Refusal()
  readonly position: LogPosition = new LogPosition()
  readonly notes: Notes
  /** Woken when the session's standing, its connection or its access may have changed. */
  readonly waiting: Waiting = new Waiting()

  constructor(
    options: MountOptions,
    recovered: Recovered | undefined,
    pending: readonly SealedBatch[],
  ) {
    this.options = options
    this.recovered = recovered
    this.notes = new Notes(options.cacheDirectory)
    this.client = new SessionClient({
      ...sessionOptionsOf(options, recovered, pending),
      clock: { sleep },
    })
  }

  /** Asks the server. Rejects with EACCES or EIO once it accepts nothing more from this session. */
  readonly ask = (question: SessionQuestion): Promise<Uint8Array> =>
    this.refusal.unlessRefused(this.client.ask(question))

  /** Records what went wrong, for the mount's status. */
  note(error: unknown, operation = ''): void {
    this.notes.noteError(error, operation)
  }

  /**
   * Neither the branch nor a rescue layer takes what was acknowledged. It stays in the spool, programs get an error,
   * and no client waits for this session's lease.
   */
  giveUp(error: unknown): void {
    const why = whyRefused(error)
    this.note(why)
    this.client.abandon()
    this.refusal.begin(why)
    this.waiting.wake()
  }

  /**
   * The connection ended. Returns whether the server took access away just now. What was not sent stays in the spool;
   * if access comes back, it goes on from there.
   */
  losesAccess(why: unknown): boolean {
    const isRefused = isCairnError(why, 'access_ended') || isCairnError(why, 'unauthenticated')
    if (!isRefused || this.refusal.why) return false
    this.refusal.begin(why as CairnError)
    this.note(why)
    this.options.onAccess?.(false)
    return true
  }

  /** Access is back if it was lost and the session is connected. */
  regainAccess(): void {
    if (!this.client.isConnected || !this.refusal.why) return
    this.refusal.end()
    this.options.onAccess?.(true)
  }
}
