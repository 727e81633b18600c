import {
  Blobs,
  Branch,
  createBranch,
  type LogRow,
  Nodes,
  type Op,
  type Stores,
  type View,
} from '@cairn/core'
import {
  MemoryBlobStore,
  MemoryLogStore,
  MemoryNodeStore,
  MemoryRefStore,
} from '@cairn/core/testing'
import {
  type ActorId,
  type BranchId,
  type Ino,
  type LogEntry,
  type Name,
  type Page,
  rootIno,
  type SessionId,
} from '@cairn/protocol'
import { beforeEach, describe, expect, it, vi } from 'vitest'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { concerning } from './describe.ts'
import { type LogFilter, type LogOrder, scanLog } from './scan-log.ts'

describe('a page of the log', () => {
  let branch: Branch
  let stores: Stores
  let log: MemoryLogStore
  let rowsRead: number

  beforeEach(async () => {
    log = new MemoryLogStore()
    const nodes = new Nodes({ store: new MemoryNodeStore(), hash: sha256 })
    const blobs = new Blobs(new MemoryBlobStore(), contentWorker)
    stores = { nodes, blobs, log, refs: new MemoryRefStore() }
    const id = 'main' as BranchId
    await createBranch(stores, id)
    branch = await Branch.open(stores, id)
    rowsRead = 0
    const read = log.read.bind(log)
    vi.spyOn(log, 'read').mockImplementation(async (...asked) => {
      const rows: readonly LogRow[] = await read(...asked)
      rowsRead += rows.length
      return rows
    })
  })

  const page = (
    order: LogOrder,
    limit: number,
    { after = 0, before = Infinity }: { after?: number; before?: number } = {},
    filter?: LogFilter,
  ): Promise<Page<LogEntry>> => {
    const read = <T>(of: Branch, see: (view: View) => T): Promise<T> =>
      stores.nodes.read(() => see(of.head.view))
    return scanLog({ stores, read }, { branch }, { order, after, before, limit }, filter)
  }

  const seqs = ({ items }: Page<LogEntry>): number[] => items.map(({ seq }) => seq)

  /** So many batches, each with that many files of that size. */
  const fill = async (count: number, files = 1, bytes = 0): Promise<void> => {
    const submissions = Array.from({ length: count }, (_, i) =>
      branch.submit({
        session: 's' as SessionId,
        number: i + 1,
        actor: `actor ${i % 3}` as ActorId,
        time: { sec: 1_790_000_000 + i, nsec: 0 },
        epoch: 1,
        ops: Array.from({ length: files }, (_, j) => newFile(i * files + j, bytes)).flat(),
      }),
    )
    await Promise.all(submissions)
  }

  it.each([
    ['oldest', [1, 2, 3], '3'],
    ['newest', [10, 9, 8], '8'],
  ] as const)('%s first, and where to go on', async (order, expected, next) => {
    await fill(10)
    const first = await page(order, 3)
    expect([seqs(first), first.next]).toEqual([expected, next])
  })

  it('bounds on both sides are exclusive, and the last page says that it is', async () => {
    await fill(10)
    expect(seqs(await page('oldest', 10, { after: 3, before: 7 }))).toEqual([4, 5, 6])
    const last = await page('newest', 3, { after: 3, before: 7 })
    expect([seqs(last), last.next]).toEqual([[6, 5, 4], undefined])
    expect(await page('newest', 3, { after: 10 })).toEqual({ items: [] })
    expect(await page('oldest', 3, { after: 99 })).toEqual({ items: [] })
    expect(await page('newest', 3, { before: 0 })).toEqual({ items: [] })
  })

  it.each(['oldest', 'newest'] as const)('%s: costs what it gives', async (order) => {
    await fill(3000)
    rowsRead = 0
    expect((await page(order, 10)).items).toHaveLength(10)
    expect(rowsRead).toBe(10)
  })

  it('entries that do not match are skipped within bounds, and the cursor leads on to the end', async () => {
    await fill(100, 400)
    const isIt = concerning('/f39999', 'exactly')
    const filter: LogFilter = { entry: ({ operations }) => operations.some(isIt) }
    const found: number[] = []
    let [after, pages] = [0, 0]
    for (let next: string | undefined = '0'; next !== undefined; pages++) {
      rowsRead = 0
      const each: Page<LogEntry> = await page('oldest', 10, { after }, filter)
      expect(rowsRead).toBeLessThan(100)
      found.push(...seqs(each))
      next = each.next
      after = Number(next)
    }
    expect(found).toEqual([100])
    expect(pages).toBeGreaterThan(1)
  })

  it('batches of the largest size come newest first, a bounded number of bytes at a time', async () => {
    await fill(9, 1, (4 << 20) - 2000)
    const all: number[] = []
    for (let before = Infinity; ;) {
      const each = await page('newest', 100, { before })
      expect(each.items.length).toBeLessThanOrEqual(5)
      all.push(...seqs(each))
      if (each.next === undefined) break
      before = Number(each.next)
    }
    expect(all).toEqual([9, 8, 7, 6, 5, 4, 3, 2, 1])
  })
})

function newFile(n: number, bytes: number): Op[] {
  const [ino, time] = [(100 + n) as Ino, { sec: 1_790_000_000, nsec: n }]
  const owner = { mode: 0o644, uid: 0, gid: 0, rdev: 0, target: undefined }
  const name = `f${n}` as Name
  const create = {
    type: 'create',
    time,
    parent: rootIno,
    name,
    ino,
    kind: 'file',
    ...owner,
  } as const
  if (bytes === 0) return [create]
  const data = { type: 'bytes', bytes: new Uint8Array(bytes).fill(7) } as const
  return [create, { type: 'write', time, ino, offset: 0, data, dropPrivileges: false }]
}
