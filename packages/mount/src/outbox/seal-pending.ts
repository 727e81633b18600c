import { SessionClient } from '../session/client.ts'
import type { Resume, SessionOptions } from '../session/options.ts'
import { untilAnswered } from '../session/retry.ts'
import type { Recovered } from './recover.ts'
import { Sealer } from './seal.ts'

export type SealedBatch = Resume['pending'][number]

/** The same operations under the same numbers, as they would have been sent. */
export async function sealPending(
  options: Pick<SessionOptions, 'connect' | 'workspace' | 'branch' | 'clock'>,
  { pending }: Recovered,
): Promise<readonly SealedBatch[]> {
  const { connect, workspace, branch, clock } = options
  const reader = new SessionClient({
    connect,
    clock,
    workspace,
    branch,
    mode: 'read',
    startsAtHead: true,
  }).start()
  const put = (bytes: Uint8Array): Promise<Uint8Array> =>
    untilAnswered(
      () => reader.ask({ type: 'blob', bytes }),
      (ms) => clock.sleep(ms),
    )
  try {
    return await Promise.all(
      pending.map(async (batch) => ({
        number: batch.number,
        epoch: batch.epoch,
        body: await new Sealer().seal(batch, put),
      })),
    )
  } finally {
    reader.abandon()
  }
}

export function resumeFrom(
  { session, seq, lastNumber }: Recovered,
  pending: readonly SealedBatch[],
): Resume {
  return { session, seq, lastNumber, pending }
}
