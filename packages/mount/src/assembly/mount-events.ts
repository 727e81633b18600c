import { pendingNames } from '../outbox/recover.ts'
import type { SessionEvents } from '../session/options.ts'
import { sharingHandlers } from '../sync/sharing.ts'
import type { Following } from './following.ts'
import type { MountSession } from './mount-session.ts'
import type { Reading } from './reading.ts'
import type { Sending } from './sending.ts'
import type { Writing } from './writing.ts'

export interface Assemblies {
  readonly session: MountSession
  readonly sending: Sending
  readonly reading: Reading
  readonly following: Following
  readonly writing: Writing
}

/** What each part does when the session tells something. */
export function mountEvents(parts: Assemblies): SessionEvents {
  const { session, sending, reading, following, writing } = parts
  const { follower, holds } = following
  return {
    ...sharingHandlers(reading.sharing, session.client),
    holds: () => holds.list(),
    onBatch: (bytes) => follower.onBatch(bytes),
    onOwn(number, seq) {
      sending.room.settle(number)
      sending.doneBefore?.own(number)
      follower.onOwn(number, seq)
    },
    onRoom: (room) => sending.room.hear(room),
    async onShare(share) {
      if (sending.room.hearShare(share)) return
      sending.outbox.deferrals.release()
      await sending.outbox.drain()
    },
    onWithin: (path) => writing.limitTo(path),
    onRefused: (why) => session.note(why),
    // The next holder must see everything.
    onRecall: () => sending.outbox.deferrals.release(),
    onStanding: standingHandler(parts),
    onOver(why) {
      if (!session.losesAccess(why)) return
      reading.forgetInKernel()
      session.waiting.wake()
    },
    // What was acknowledged is not on the branch as it was.
    onRescue(outcome) {
      session.notes.noteRescue(outcome)
      sending.room.forget()
      following.reset()
      for (const { parent, name } of pendingNames(session.recovered))
        reading.caches.entry(parent, name)
    },
  }
}

function standingHandler({ session, sending, writing }: Assemblies): () => void {
  let wasConnected = false
  return () => {
    const { isConnected, canAcknowledge } = session.client
    if (isConnected && !wasConnected)
      writing.locks?.reassert().catch((error) => session.note(error))
    wasConnected = isConnected
    session.regainAccess()
    if (!canAcknowledge) sending.outbox.flushNow()
    session.waiting.wake()
  }
}
