import { type Branch, isClosedState } from '@cairn/core'
import type { SessionId } from '@cairn/protocol'
import { holdersOf } from '../leases/lease.ts'
import type { LeaseKeeper } from '../leases/lease-keeper.ts'
import type { LeaseRecord } from '../ports/lease-store.ts'
import type { Sharer } from './sharer.ts'

/** How a session may write, as the reply of that name says. */
export type LeaseStanding = 'shared' | 'beside' | 'recall' | 'lease' | 'among'

export interface WriterSession {
  readonly session: SessionId
  readonly branch: Branch
  readonly keeper: LeaseKeeper
  readonly sharer: Sharer | undefined
}

/** Whether the session holds the lease, or the server answers its writes. */
export function mayWrite({ session, keeper, sharer }: WriterSession, record: LeaseRecord): boolean {
  if (record.holder === undefined || holdersOf(record).includes(session)) return true
  return sharer !== undefined && keeper.isServed(session)
}

/** On a closed layer no client acknowledges anything: the log would refuse it. */
export function standingOf(
  { session, branch, keeper, sharer }: WriterSession,
  record: LeaseRecord,
): LeaseStanding {
  if (!holdersOf(record).includes(session))
    return sharer?.isBeside && record.holder !== undefined ? 'beside' : 'shared'
  if (record.recalled) return 'recall'
  if (isClosedState(branch.head.position.state)) return 'shared'
  return sharer && keeper.hasOthers ? 'among' : 'lease'
}

/** The same text is not told twice. */
export function toldOf(standing: LeaseStanding, { epoch }: LeaseRecord): string {
  return `${standing} ${epoch}`
}

/**
 * Before a session hears something new of how it stands. Another server may have begun the epoch, or have taken what the
 * holder handed in. A session shows what it knows from the moment it hears that no other one holds the lease.
 */
export async function takeInBefore(
  record: LeaseRecord,
  session: WriterSession,
  told: string,
  isShared: boolean,
): Promise<void> {
  const { branch } = session
  const isNew = told !== toldOf(standingOf(session, record), record)
  if (branch.head.position.epoch < record.epoch || (isShared && isNew)) await branch.refresh()
}
