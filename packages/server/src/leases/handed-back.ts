import type { SessionId } from '@cairn/protocol'
import { waitMsMax } from './audience.ts'
import type { LeaseKeeper, LeaseOptions } from './lease-keeper.ts'

/**
 * Resolves when no other session holds the lease that `session` joined for: until then holders acknowledge changes that
 * other clients do not see. Holders that are not connected are skipped.
 */
export async function whenHandedBack(
  keeper: Pick<LeaseKeeper, 'look' | 'nextLook' | 'holders'>,
  { clock }: Pick<LeaseOptions, 'clock'>,
  session: SessionId,
  isConnected: (session: SessionId) => Promise<boolean>,
): Promise<void> {
  const lateAtMs = clock.nowMs() + waitMsMax
  for (await keeper.look(); ; await keeper.nextLook()) {
    const others = keeper.holders.filter((holder) => holder !== session)
    const areConnected = await Promise.all(others.map(isConnected))
    if (!areConnected.includes(true) || clock.nowMs() >= lateAtMs) return
  }
}
