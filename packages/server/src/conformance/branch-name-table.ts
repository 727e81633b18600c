import { casesOf, expect, type StoreCase, uniqueId } from '@cairn/core/conformance'
import type { BranchId } from '@cairn/protocol'
import type { BranchNameTable } from '../storage/branch-name-table.ts'

/** The contract of BranchNameTable, on whichever database. */
export const branchNameTableCases: readonly StoreCase<BranchNameTable>[] = casesOf((test) => {
  const branch = uniqueId() as BranchId

  test('a name leads to its branch, in its workspace alone', async (table) => {
    const workspace = uniqueId()
    expect(await table.find(workspace, 'try')).toBe(undefined)
    expect(await table.create(workspace, 'try', branch)).toBe(true)
    expect(await table.find(workspace, 'try')).toBe(branch)
    expect(await table.find(uniqueId(), 'try')).toBe(undefined)
  })

  test('a name that is taken stays as it is', async (table) => {
    const workspace = uniqueId()
    await table.create(workspace, 'try', branch)
    expect(await table.create(workspace, 'try', uniqueId() as BranchId)).toBe(false)
    expect(await table.find(workspace, 'try')).toBe(branch)
  })

  test('a name that was removed is free', async (table) => {
    const workspace = uniqueId()
    expect(await table.remove(workspace, 'try')).toBe(false)
    await table.create(workspace, 'try', branch)
    expect(await table.remove(workspace, 'try')).toBe(true)
    expect(await table.find(workspace, 'try')).toBe(undefined)
    expect(await table.create(workspace, 'try', branch)).toBe(true)
  })

  test('a listing pages through the names in byte order', async (table) => {
    const workspace = uniqueId()
    const names = ['b', 'a', 'C', 'a ', 'é']
    for (const name of names) await table.create(workspace, name, `id of ${name}` as BranchId)
    const first = await table.list(workspace, undefined, 3)
    expect(first.map(({ name }) => name)).toEqual(['C', 'a', 'a '])
    const rest = await table.list(workspace, 'a ', 3)
    expect(rest).toEqual(['b', 'é'].map((name) => ({ name, id: `id of ${name}` })))
  })
})
