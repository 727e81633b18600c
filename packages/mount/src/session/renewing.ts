import type { SessionClock } from './options.ts'
import type { Wire } from './wire.ts'

/** Says that the session is there, for as long as it has this connection. */
export async function renewing(
  wire: Wire,
  clock: SessionClock,
  everyMs: number,
  isCurrent: () => boolean,
): Promise<void> {
  for (;;) {
    await clock.sleep(everyMs)
    if (!isCurrent()) return
    wire.send({ type: 'renew' })
  }
}
