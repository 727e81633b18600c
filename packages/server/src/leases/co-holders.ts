import { type Branch, sessionIds, type Stores, type Time } from '@cairn/core'
import type { ActorId, SessionId } from '@cairn/protocol'

const server = 'server' as ActorId

/**
 * Writes into the log that a session acknowledges in that epoch, which began with the lease of another one. Rejects with
 * `stale_epoch` when the epoch is over. Late writes of a session that is not noted would be refused.
 */
export async function noteCoHolder(
  { log }: Pick<Stores, 'log'>,
  branch: Branch,
  { session, epoch, time }: { session: SessionId; epoch: number; time: Time },
): Promise<void> {
  if (await wasCoHolder({ log }, branch, session, epoch)) return
  const note = sessionIds.coHolderSession(epoch, session)
  // DURABLE: from here on the session may be told that it acknowledges in this epoch.
  await branch.submit({ session: note, number: 1, actor: server, time, epoch, ops: [] })
}

export async function wasCoHolder(
  { log }: Pick<Stores, 'log'>,
  branch: Branch,
  session: SessionId,
  epoch: number,
): Promise<boolean> {
  return (await log.lastNumber(branch.id, sessionIds.coHolderSession(epoch, session))) > 0
}
