import { casesOf, expect, type StoreCase, uniqueId } from '@cairn/core/conformance'
import type { BranchId, Ino, Trace } from '@cairn/protocol'
import type { TraceStore } from '../ports/trace-store.ts'

const root = 1 as Ino
const trace: Trace = [
  { ino: 7 as Ino, block: undefined },
  { ino: (2 ** 45) as Ino, block: 0 },
  { ino: (2 ** 45) as Ino, block: 2 ** 30 },
]

/** The contract of TraceStore. */
export const traceStoreCases: readonly StoreCase<TraceStore>[] = casesOf((test) => {
  test('a directory that was never mounted has an empty trace', async (store) => {
    expect(await store.find(newBranch(), root)).toEqual([])
  })

  test('the last trace of a directory is found, and that of no other', async (store) => {
    const branch = newBranch()
    await store.put(branch, root, trace.slice(1), 1)
    await store.put(branch, root, trace, 2)
    expect(await store.find(branch, root)).toEqual(trace)
    expect(await store.find(branch, 2 as Ino)).toEqual([])
    expect(await store.find(newBranch(), root)).toEqual([])
  })

  test('a branch has those of 16 directories, and the oldest go', async (store) => {
    const branch = newBranch()
    const inos = Array.from({ length: 18 }, (_, at) => (at + 1) as Ino)
    for (const ino of inos) await store.put(branch, ino, trace, ino)
    const kept = []
    for (const ino of inos) if ((await store.find(branch, ino)).length > 0) kept.push(ino)
    expect(kept).toEqual(inos.slice(2))
  })
})

function newBranch(): BranchId {
  return `${uniqueId()}/main` as BranchId
}
