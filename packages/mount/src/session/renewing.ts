import { encodeInos, type Ino } from '@cairn/protocol'
import type { SessionClock } from './options.ts'
import type { Wire } from './wire.ts'

export interface Renewing {
  readonly everyMs: number
  /** The files without a name that it has open. */
  readonly holds: () => readonly Ino[]
  readonly isCurrent: () => boolean
}

/** Says that the session is there, and what it has open, for as long as it has this connection. */
export async function renewing(
  wire: Wire,
  clock: SessionClock,
  { everyMs, holds, isCurrent }: Renewing,
): Promise<void> {
  let held = 0
  for (;;) {
    const inos = holds()
    // Once more when there are none left.
    if (inos.length > 0 || held > 0) wire.send({ type: 'hold', inos: encodeInos(inos) })
    held = inos.length
    await clock.sleep(everyMs)
    if (!isCurrent()) return
    wire.send({ type: 'renew' })
  }
}
