import type { SessionReply, SessionRequest } from '@cairn/protocol'
import type { SessionEvents } from './options.ts'

type Demand = Extract<SessionReply, { type: 'share' | 'yield' | 'forget' }>

/** Does what the server asks of a session, and says when it is done. */
export async function obey(
  events: SessionEvents,
  demand: Demand,
  send: (done: SessionRequest) => void,
): Promise<void> {
  if (demand.type === 'share') await events.onShare?.(demand)
  else if (demand.type === 'yield') await events.onYield?.(demand.inos)
  else await events.onForget?.(demand.inos)
  // A share without an id only tells.
  if (demand.id > 0) send({ type: 'done', request: demand.id })
}
