import { isOld } from '../outbox/recover.ts'
import { decodeChangesAnswer } from '../session/answers.ts'
import type { Standing } from '../session/options.ts'
import { Follower } from '../sync/follower.ts'
import { Holds } from '../sync/holds.ts'
import { ProgressNotes } from '../sync/progress-notes.ts'
import type { MountSession } from './mount-session.ts'
import type { Reading } from './reading.ts'
import type { Sending } from './sending.ts'

/** Takes in the branch's log: the image, the bytes and the kernel's caches follow it. */
export class Following {
  readonly follower: Follower
  /** The files without a name that the server must keep for this mount. */
  readonly holds: Holds
  readonly progress: ProgressNotes
  readonly #session: MountSession
  readonly #reading: Reading

  constructor(session: MountSession, sending: Sending, reading: Reading) {
    this.#session = session
    this.#reading = reading
    const { client, notes, position, recovered, waiting } = session
    const { unseen, outbox, spool } = sending
    const { image, contents, loader, nodes, caches } = reading
    this.holds = new Holds(image, nodes, outbox, client)
    this.follower = new Follower({
      image,
      contents,
      loader,
      position,
      caches,
      nodes,
      isAcknowledged: (number) => unseen.take(number) || isOld(number, recovered),
      changesAt: async (seq) => decodeChangesAnswer(await client.ask({ type: 'changes', seq })),
      keep: (bytes) => spool.keep(bytes),
      seen: (seq) => client.seen(seq),
      onBatch: (batch) => {
        outbox.noteOthers()
        notes.noteBatch(batch)
      },
      onMade: (directory) => reading.sharing.noteMadeElsewhere(directory),
      onCurrent: () => waiting.wake(),
      reset: () => this.reset(),
      doubt: () => {
        nodes.forgetUnknownAttributes(caches)
        this.holds.doubt()
      },
    })
    this.progress = new ProgressNotes(position, () => sending.noteProgress())
  }

  /** How this mount may write now. The lease holder builds on everything that came before it. */
  get standing(): Standing {
    const { client } = this.#session
    if (client.canAcknowledge) return this.follower.isCurrent ? 'lease' : 'waiting'
    return client.standing === 'shared' ? 'shared' : 'waiting'
  }

  /** Resolves when this mount and its kernel show the log up to `seq`, and the session may write. */
  async whenCurrent(seq: number): Promise<void> {
    const { position, waiting } = this.#session
    await waiting.until(() => this.standing !== 'waiting' && position.seq >= seq)
    await this.#reading.caches.settled()
  }

  /** Everything is loaded again, because it is unknown what changed. */
  reset(): void {
    this.#reading.reset()
    this.holds.doubt()
  }
}
