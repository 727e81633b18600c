import type { SessionClient } from './client.ts'

/** A mount that hangs does not keep others from starting for longer. */
const waitMsMax = 5000

/**
 * Resolves when a new session sees all that others do from now on. Until then another mount may hold the lease, and
 * acknowledge changes that this one cannot see yet.
 */
export async function whenJoined(
  session: Pick<SessionClient, 'barrier'>,
  seq: number,
  sleep: (ms: number) => Promise<unknown>,
): Promise<void> {
  const joined = session.barrier(seq).catch(() => undefined)
  await Promise.race([joined, sleep(waitMsMax)])
}
