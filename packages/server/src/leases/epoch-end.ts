import { randomUUID } from 'node:crypto'
import {
  type Branch,
  decodeOutline,
  type LogStore,
  sessionIds,
  type Stores,
  type Time,
} from '@cairn/core'
import {
  type ActorId,
  CairnError,
  type CheckpointId,
  isCairnError,
  type SessionId,
} from '@cairn/protocol'
import { wasCoHolder } from './co-holders.ts'

const server = 'server' as ActorId

/**
 * The checkpoint of what the branch was when an epoch ended at `seq`. Servers that race to end it prepare one each;
 * with the place in its name none can be taken for another's, and the log says which came true.
 */
export function epochCheckpoint(epoch: number, seq: number): CheckpointId {
  return `epoch-${epoch}-at-${seq}` as CheckpointId
}

export function isEpochCheckpoint(id: CheckpointId): boolean {
  return /^epoch-\d+-at-\d+$/.test(id)
}

/** False when it has ended already. What the branch was at its end stays as a checkpoint. */
export async function endEpoch(
  { refs }: Stores,
  branch: Branch,
  epoch: number,
  next: { readonly holder: SessionId | undefined; readonly time: Time },
): Promise<boolean> {
  const { time } = next
  const session = sessionIds.epochSession(randomUUID(), next.holder)
  const author = { session, number: 1, actor: server, time }
  try {
    await branch.raiseEpoch(
      author,
      ({ seq, snapshot }) => {
        const id = epochCheckpoint(epoch, seq)
        return refs.putCheckpoint({ id, branch: branch.id, label: '', seq, snapshot, time })
      },
      epoch,
    )
    return true
  } catch (error) {
    if (isCairnError(error, 'stale_epoch')) return false
    throw error
  }
}

/**
 * Refuses a session that did not get the lease with that epoch, and did not become a holder in it. Epochs that were begun before authors named the holder
 * belong to any session: an update of the server must not cost a client its late writes.
 */
export async function requireHeld(
  { log }: Stores,
  branch: Branch,
  session: SessionId,
  epoch: number,
): Promise<void> {
  await branch.refresh()
  const [first] =
    epoch > 0 ? await log.read(branch.id, await lastSeqOf(log, branch, epoch - 1), 1) : []
  const author = first && decodeOutline(first.bytes)
  const begins = author?.body.type === 'epoch' && author.epoch === epoch
  const holder = begins ? (sessionIds.holderOfEpoch(author.session) ?? session) : ''
  if (holder === session || (await wasCoHolder({ log }, branch, session, epoch))) return
  throw new CairnError('forbidden', {
    what: `rescue from epoch ${epoch} of branch ${branch.id}`,
    reason: `session ${session} did not have its lease`,
    subject: branch.id,
  })
}

/** What a holder had at the server when its epoch ended: where its late writes belong. */
export async function findEpochEnd(
  { log, refs }: Stores,
  branch: Branch,
  epoch: number,
): ReturnType<Stores['refs']['getCheckpoint']> {
  await branch.refresh()
  if (branch.head.position.epoch <= epoch)
    throw new CairnError('checkpoint_missing', {
      what: `rescue from epoch ${epoch} of branch ${branch.id}`,
      reason: 'it has not ended',
      subject: branch.id,
    })
  const seq = await lastSeqOf(log, branch, epoch)
  return refs.getCheckpoint(branch.id, epochCheckpoint(epoch, seq))
}

/** Epochs only grow along the log, so halving finds the last batch that is not of a later one. */
async function lastSeqOf(log: LogStore, branch: Branch, epoch: number): Promise<number> {
  let [before, after] = [0, branch.head.position.seq]
  while (after - before > 1) {
    const middle = (before + after) >> 1
    const [row] = await log.read(branch.id, middle - 1, 1)
    if (decodeOutline(row!.bytes).epoch <= epoch) before = middle
    else after = middle
  }
  return before
}
