import {
  casesOf,
  expect,
  expectCode,
  type StoreCase,
  type StoreTest,
  uniqueId,
} from '@cairn/core/conformance'
import type { BranchId } from '@cairn/protocol'
import type { StoredWorkspace, WorkspaceTable } from '../storage/workspace-table.ts'

/** The contract of WorkspaceTable, on whichever database. */
export const workspaceTableCases: readonly StoreCase<WorkspaceTable>[] = casesOf((test) => {
  nameCases(test)
  deletionCases(test)
  listCases(test)
  inodeCases(test)
})

type Test = StoreTest<WorkspaceTable>

function nameCases(test: Test): void {
  test('a workspace is found by name and by id, with its first branch', async (table) => {
    const workspace = await make(table, { name: 'web \u{1f5fb}' })
    const { owner, name, id } = workspace
    expect(await table.find(owner, name)).toEqual(workspace)
    expect(await table.find(owner, id)).toEqual(workspace)
    expect(await table.findBranch(id, 'main')).toBe(`${id}/main`)
    expect(await table.findBranch(id, 'other')).toBe(undefined)
  })

  test('nothing is found of another owner', async (table) => {
    const { name, id } = await make(table, {})
    expect(await table.find(uniqueId(), name)).toBe(undefined)
    expect(await table.find(uniqueId(), id)).toBe(undefined)
  })

  test('a name is taken once by an owner, and free for others', async (table) => {
    const { owner, name } = await make(table, {})
    const twin = workspaceOf({ owner, name })
    await expectCode(table.create(twin, mainOf(twin)), 'workspace_exists', name)
    expect(await table.find(owner, twin.id)).toBe(undefined)
    expect(await table.findBranch(twin.id, 'main')).toBe(undefined)
    await make(table, { name })
  })

  test('an id is taken once', async (table) => {
    const { owner, id } = await make(table, {})
    const twin = workspaceOf({ owner, id })
    await expectCode(table.create(twin, mainOf(twin)), 'workspace_exists')
  })

  test('names that look alike are different ones', async (table) => {
    const owner = uniqueId()
    const names = ['a', 'A', 'a ', 'ä', 'a\u0308', '%', '_']
    for (const name of names) await make(table, { owner, name })
    for (const name of names) expect((await table.find(owner, name))?.name).toBe(name)
  })

  test('of eight that take a name, one gets it', async (table) => {
    const twins = Array.from({ length: 8 }, () => workspaceOf({ owner: 'racer', name: uniqueId() }))
    const name = uniqueId()
    const results = await Promise.allSettled(
      twins.map((twin) => table.create({ ...twin, name }, mainOf(twin))),
    )
    expect(results.filter(({ status }) => status === 'fulfilled').length).toBe(1)
  })

  test('a renamed workspace is found by its new name alone', async (table) => {
    const { owner, name, id } = await make(table, {})
    const next = uniqueId()
    expect(await table.rename(owner, id, next)).toBe(true)
    expect((await table.find(owner, next))?.id).toBe(id)
    expect((await table.find(owner, id))?.name).toBe(next)
    expect(await table.find(owner, name)).toBe(undefined)
    await make(table, { owner, name })
    await expectCode(table.rename(owner, id, name), 'workspace_exists', name)
    expect(await table.rename(owner, id, next)).toBe(true)
  })

  test('renaming what is not there, or is not yours, is false', async (table) => {
    const { owner, id } = await make(table, {})
    expect(await table.rename(owner, uniqueId(), 'x')).toBe(false)
    expect(await table.rename(uniqueId(), id, 'x')).toBe(false)
  })

  test('a deleted workspace is gone and its name free, as often as one likes', async (table) => {
    const owner = uniqueId()
    const name = uniqueId()
    for (let i = 0; i < 3; i++) {
      const { id } = await make(table, { owner, name })
      expect(await table.remove(uniqueId(), id, noon)).toBe(false)
      expect(await table.remove(owner, id, noon)).toBe(true)
      expect(await table.remove(owner, id, noon)).toBe(false)
      expect(await table.rename(owner, id, uniqueId())).toBe(false)
      expect(await table.find(owner, name)).toBe(undefined)
      expect(await table.find(owner, id)).toBe(undefined)
      expect(await table.list(owner, undefined, 10)).toEqual([])
    }
  })
}

const [morning, noon, evening] = ['T08', 'T12', 'T18'].map(
  (hour) => `2031-05-01${hour}:00:00.000Z`,
) as [string, string, string]

function deletionCases(test: Test): void {
  test('a deleted workspace comes back as it was, under its own name or another', async (table) => {
    const workspace = await make(table, {})
    const { owner, id, name } = workspace
    for (const next of [name, uniqueId()]) {
      expect(await table.restore(owner, id, next, morning)).toBe(false)
      await table.remove(owner, id, noon)
      expect(await table.restore(uniqueId(), id, next, morning)).toBe(false)
      expect(await table.restore(owner, id, next, morning)).toBe(true)
      expect(await table.find(owner, next)).toEqual({ ...workspace, name: next })
      expect(await table.listDeleted(owner, morning, undefined, 10)).toEqual([])
    }
  })

  test('one that was deleted too long ago is not found and stays away', async (table) => {
    const { owner, id, name } = await make(table, {})
    await table.remove(owner, id, noon)
    expect(await table.restore(owner, id, name, evening)).toBe(false)
    expect(await table.findDeleted(owner, name, evening)).toBe(undefined)
    expect(await table.listDeleted(owner, evening, undefined, 10)).toEqual([])
    expect(await table.find(owner, name)).toBe(undefined)
  })

  test('a taken name is refused, and the workspace stays deleted', async (table) => {
    const { owner, id, name } = await make(table, {})
    await table.remove(owner, id, noon)
    await make(table, { owner, name })
    await expectCode(table.restore(owner, id, name, morning), 'workspace_exists', name)
    expect((await table.findDeleted(owner, id, morning))?.deletedAt).toBe(noon)
  })

  test('of several that had a name, the last is found, and each by its id', async (table) => {
    const owner = uniqueId()
    const name = uniqueId()
    const ids: string[] = []
    for (const time of [noon, evening, `${noon}-later`]) {
      const { id } = await make(table, { owner, name })
      await table.remove(owner, id, time)
      ids.push(id)
    }
    expect((await table.findDeleted(owner, name, morning))?.id).toBe(ids[1])
    for (const id of ids) expect((await table.findDeleted(owner, id, morning))?.id).toBe(id)
    const [first] = await table.listDeleted(owner, morning, undefined, 1)
    const rest = await table.listDeleted(owner, morning, first?.id, 10)
    expect([first, ...rest].map((each) => each?.id)).toEqual(ids.toSorted())
  })

  test('the workspaces of a pool are named, without those that were deleted', async (table) => {
    const { owner, pool, name, id } = await make(table, {})
    const fork = await make(table, { owner, pool })
    await make(table, { owner })
    expect(await table.listPool(owner, pool)).toEqual([name, fork.name].toSorted())
    await table.remove(owner, id, noon)
    expect(await table.listPool(owner, pool)).toEqual([fork.name])
  })

  test('a pool of another owner is known, also after its workspace was deleted', async (table) => {
    const { owner, pool, id } = await make(table, {})
    expect(await table.hasOther(owner, pool)).toBe(false)
    expect(await table.hasOther(uniqueId(), pool)).toBe(true)
    expect(await table.hasOther(uniqueId(), id)).toBe(true)
    await table.remove(owner, id, noon)
    expect(await table.hasOther(uniqueId(), pool)).toBe(true)
    expect(await table.hasOther(owner, uniqueId())).toBe(false)
  })
}

function listCases(test: Test): void {
  test('a listing pages through the names of an owner in byte order', async (table) => {
    const owner = uniqueId()
    const names = ['b', 'a', 'C', 'é', 'z', 'aa']
    for (const name of names) await make(table, { owner, name })
    await make(table, {})
    const listed: string[] = []
    for (let page = await table.list(owner, undefined, 2); page.length > 0;) {
      expect(page.length <= 2).toBe(true)
      listed.push(...page.map(({ name }) => name))
      page = await table.list(owner, listed.at(-1), 2)
    }
    expect(listed).toEqual(['C', 'a', 'aa', 'b', 'z', 'é'])
  })
}

function inodeCases(test: Test): void {
  test('inode numbers begin after the root and are given once', async (table) => {
    const { id } = await make(table, {})
    expect(await table.takeInodes(id, 10)).toBe(2)
    expect(await table.takeInodes(id, 1)).toBe(12)
    expect(await table.takeInodes(id, 5)).toBe(13)
  })

  test('a fork goes on with the numbers of its origin', async (table) => {
    const fork = workspaceOf({})
    await table.create(fork, mainOf(fork), 1000)
    expect(await table.takeInodes(fork.id, 1)).toBe(1000)
  })

  test('ranges taken at once do not overlap', async (table) => {
    const { id } = await make(table, {})
    const firsts = await Promise.all(Array.from({ length: 12 }, () => table.takeInodes(id, 100)))
    const sorted = firsts.sort((a, b) => a - b)
    expect(sorted).toEqual(sorted.map((_, i) => 2 + i * 100))
  })

  test('an unknown workspace has none', async (table) => {
    const id = uniqueId()
    await expectCode(table.takeInodes(id, 1), 'workspace_missing', id)
  })
}

function workspaceOf(fields: Partial<StoredWorkspace>): StoredWorkspace {
  return {
    id: uniqueId(),
    owner: uniqueId(),
    name: uniqueId(),
    pool: uniqueId(),
    createdAt: '2026-11-01T10:00:00.000Z',
    ...fields,
  }
}

async function make(
  table: WorkspaceTable,
  fields: Partial<StoredWorkspace>,
): Promise<StoredWorkspace> {
  const workspace = workspaceOf(fields)
  await table.create(workspace, mainOf(workspace))
  return workspace
}

function mainOf({ id }: StoredWorkspace): { name: string; id: BranchId } {
  return { name: 'main', id: `${id}/main` as BranchId }
}
