import type { HashedEntry } from '@cairn/protocol'
import { Bell } from './event-stream.ts'
import type { JournalKeeper } from '../journal/journal-keeper.ts'

/** Other servers may append to the same journal; their entries are found by looking. */
const lookMs = 250
const rowsAtOnce = 500

/** Every entry after that number, those that are there and then new ones as they come; ends with a sealed journal. */
export async function* followJournal(
  journals: JournalKeeper,
  workspace: string,
  id: string,
  after: number,
  signal: AbortSignal,
): AsyncGenerator<HashedEntry> {
  const bell = new Bell(signal)
  let isRung = true
  const ring = (): void => {
    isRung = true
    bell.ring()
  }
  const unsubscribe = journals.listeners.subscribe(workspace, id, ring)
  const look = setInterval(ring, lookMs)
  try {
    for (let seq = after; !signal.aborted;) {
      isRung = false
      // Asked before the entries: one that was sealed then has no others.
      const { head } = await journals.get(workspace, id)
      const { items } = await journals.read(workspace, id, seq, rowsAtOnce)
      yield* items
      seq = items.at(-1)?.seq ?? seq
      if (head.sealed && seq >= head.seq) return
      if (items.length < rowsAtOnce) await bell.wait(() => isRung)
    }
  } finally {
    clearInterval(look)
    unsubscribe()
  }
}
