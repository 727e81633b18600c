import { now } from './clock.ts'
import type { Segments } from './data/segments.ts'
import type { MountOptions } from './mount-options.ts'
import { deferredNumber, Outbox, type OutboxParts } from './outbox/outbox.ts'
import type { Recovered } from './outbox/recover.ts'
import type { SessionClient } from './session/client.ts'
import { windowOf } from './sync/durability.ts'
import type { QuotaRoom } from './outbox/quota-room.ts'

interface Parts extends Pick<OutboxParts, 'putBlob' | 'onRescued' | 'onRefused' | 'unseen'> {
  readonly options: MountOptions
  readonly session: SessionClient
  readonly segments: Segments
  readonly room: QuotaRoom
  readonly recovered: Recovered | undefined
}

/** The outbox of a mount, which sends through its session. */
export function openOutbox(parts: Parts): Outbox {
  const { options, session, room, recovered, ...rest } = parts
  return new Outbox({
    ...rest,
    reserve: () => session.reserve(),
    reserveUnder: (epoch) => session.reserveUnder(epoch),
    deferrals: {
      leaseEpoch: () => session.leaseEpoch,
      onReleased: (number) => room.move(deferredNumber, number),
      last: recovered?.lastDeferred,
    },
    batchBytes: () => session.batchBytes,
    now,
    window: windowOf(options.durability, options),
  })
}
