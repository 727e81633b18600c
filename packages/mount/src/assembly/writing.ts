import { isBelow, namesOf } from '@cairn/core'
import { Classes } from '../classes/classes.ts'
import { SharedLocks } from '../locks/shared-locks.ts'
import { durabilities } from '../sync/durability.ts'
import { type InodeNumbers, inodeNumbersAt } from '../sync/inode-numbers.ts'
import { MountWriter } from '../sync/writer.ts'
import { ProcessCalls } from '../tool-calls/process-calls.ts'
import { ToolCalls } from '../tool-calls/tool-calls.ts'
import type { Following } from './following.ts'
import { type MountSession, sleep } from './mount-session.ts'
import type { Reading } from './reading.ts'
import type { Sending } from './sending.ts'

/** Makes the changes that programs ask for, and says which of them are done already. */
export class Writing {
  readonly writer: MountWriter
  /** Which changes wait because of the profile. */
  readonly classes: Classes
  readonly numbers: InodeNumbers
  readonly toolCalls: ToolCalls
  /** Set where locks hold between mounts. */
  readonly locks: SharedLocks | undefined
  readonly #path: string
  /** The layer's path, where more than that is mounted. */
  #limit: string | undefined

  constructor(session: MountSession, sending: Sending, reading: Reading, following: Following) {
    const { options, client, refusal, waiting } = session
    const { image, contents, sharing, contested, nodes } = reading
    const { outbox, room, submitter } = sending
    this.#path = options.path
    this.numbers = inodeNumbersAt(client)
    const { processes } = options
    this.toolCalls = new ToolCalls(
      processes === undefined ? undefined : new ProcessCalls(processes),
    )
    this.classes = new Classes(image, () => nodes.root, options.profile)
    this.writer = new MountWriter({
      image,
      contents,
      outbox,
      follower: following.follower,
      sharing,
      contested,
      classes: this.classes,
      room,
      holds: following.holds,
      standing: () => following.standing,
      isConnected: () => client.isConnected,
      whenStanding: () => waiting.next(),
      submit: (op, cause) => submitter.submit(op, cause),
      barrier: (seq) => client.barrier(seq),
      waits: durabilities[options.durability].waits === 'write',
      onRefused: (error) => session.note(error),
      refusal,
      grant: options.grant,
      limit: () => this.#limit,
    })
    this.locks = options.sharedLocks
      ? new SharedLocks({
          ask: (question, signal) => client.ask(question, signal),
          isConnected: () => client.isConnected,
          whenCurrent: (seq) => following.whenCurrent(seq),
          note: (message) => session.note(message),
          sleep,
        })
      : undefined
  }

  /** Only below this path may anything be changed. */
  limitTo(path: string): void {
    this.#limit = isBelow(namesOf(this.#path), namesOf(path)) ? undefined : path
  }
}
