import type { SessionClient } from '../session/client.ts'
import { isRescued } from '../session/rescue.ts'
import type { Recovered } from './recover.ts'

/** What the process before this one left is at the server, or in a rescue layer. Else it stays where it is. */
export async function whenHandedIn(
  session: Pick<SessionClient, 'settled'>,
  recovered: Recovered | undefined,
): Promise<void> {
  const left = recovered?.pending.flatMap(({ number }) => session.settled(number) ?? []) ?? []
  for (const outcome of await Promise.allSettled(left))
    if (outcome.status === 'rejected' && !isRescued(outcome.reason)) throw outcome.reason
}
