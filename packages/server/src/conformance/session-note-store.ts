import { casesOf, expect, type StoreCase, uniqueId } from '@cairn/core/conformance'
import type { BranchId, Ino, SessionId } from '@cairn/protocol'
import type { SessionNote, SessionNoteStore } from '../ports/session-note-store.ts'

const [a, b] = ['a', 'é'] as SessionId[] as [SessionId, SessionId]
const sinceMs = 1_790_000_000_000

/** The contract of SessionNoteStore. */
export const sessionNoteStoreCases: readonly StoreCase<SessionNoteStore>[] = casesOf((test) => {
  test('a branch without sessions has no notes', async (store) => {
    expect(await store.list(newBranch())).toEqual([])
  })

  test('what is asked and told is listed, for each session of a branch', async (store) => {
    const [branch, other] = [newBranch(), newBranch()]
    await store.put(branch, { session: a, server: 'one', sinceMs })
    await store.put(branch, { session: b, server: 'two', sinceMs })
    await store.put(other, { session: a, server: 'three', sinceMs })
    await store.ask(branch, a, 2 ** 40)
    await store.tell(branch, b, 7)
    expect(await sorted(store, branch)).toEqual([
      { session: a, server: 'one', sinceMs, seen: 0, asked: 2 ** 40 },
      { session: b, server: 'two', sinceMs, seen: 7, asked: 0 },
    ])
    expect(await store.list(other)).toEqual([
      { session: a, server: 'three', sinceMs, seen: 0, asked: 0 },
    ])
  })

  test('neither is lowered', async (store) => {
    const branch = newBranch()
    await store.put(branch, { session: a, server: 'one', sinceMs })
    for (const seq of [5, 3, 5]) {
      await store.ask(branch, a, seq)
      await store.tell(branch, a, seq + 1)
    }
    expect(await store.list(branch)).toEqual([
      { session: a, server: 'one', sinceMs, seen: 6, asked: 5 },
    ])
  })

  test('a session that connects to another server begins anew there', async (store) => {
    const branch = newBranch()
    await store.put(branch, { session: a, server: 'one', sinceMs })
    await store.tell(branch, a, 5)
    await store.put(branch, { session: a, server: 'two', sinceMs })
    await store.remove(branch, a, 'one')
    expect(await store.list(branch)).toEqual([
      { session: a, server: 'two', sinceMs, seen: 0, asked: 0 },
    ])
    await store.remove(branch, a, 'two')
    expect(await store.list(branch)).toEqual([])
  })

  test('a session without a note stays without one', async (store) => {
    const branch = newBranch()
    await store.ask(branch, a, 1)
    await store.tell(branch, a, 1)
    await store.remove(branch, a, 'one')
    expect(await store.list(branch)).toEqual([])
  })

  test('what each session holds is listed, as it was said last', async (store) => {
    const [branch, other] = [newBranch(), newBranch()]
    const inos = [7, 2 ** 45] as Ino[]
    await store.hold(branch, { session: a, inos: [3 as Ino], untilMs: 1 })
    await store.hold(branch, { session: a, inos, untilMs: sinceMs })
    await store.hold(branch, { session: b, inos: [9 as Ino], untilMs: 5 })
    await store.hold(other, { session: b, inos, untilMs: 6 })
    await store.hold(branch, { session: b, inos: [], untilMs: 7 })
    expect(await store.listHolds(branch)).toEqual([{ session: a, inos, untilMs: sinceMs }])
    expect(await store.listHolds(other)).toEqual([{ session: b, inos, untilMs: 6 }])
    expect(await store.listHolds(newBranch())).toEqual([])
  })
})

async function sorted(store: SessionNoteStore, branch: BranchId): Promise<readonly SessionNote[]> {
  const notes = await store.list(branch)
  return notes.toSorted((x, y) => (x.session < y.session ? -1 : 1))
}

function newBranch(): BranchId {
  return `${uniqueId()}/main` as BranchId
}
