// Clocks differ. What a log and a tree say of time does not go back.
import { type Ino, rootIno } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { BranchFixture } from '../../test/branch-fixture.ts'
import type { Op } from '../filesystem/op.ts'
import type { Branch } from './branch.ts'
import { decodeBatch } from './batch.ts'

const at = (sec: number): { readonly sec: number; readonly nsec: number } => ({ sec, nsec: 0 })
const nothingElse = {
  uid: undefined,
  gid: undefined,
  size: undefined,
  atime: undefined,
  mtime: undefined,
}
const chmod = (ino: Ino, sec: number): Op => ({
  type: 'setattr',
  time: at(sec),
  ino,
  mode: 0o700,
  ...nothingElse,
})
const ctimeOf = (branch: Branch, ino: Ino): number => branch.head.view.inode(ino)!.ctime.sec

it("a batch is not earlier than the one before it, whatever its writer's clock says", async () => {
  const fixture = await BranchFixture.open()
  const times = (): number[] => fixture.rows.map(({ bytes }) => decodeBatch(bytes).time.sec)
  await fixture.branch.submit({ ...fixture.submission([fixture.create('a')]), time: at(5000) })
  // One that has the fold alone, and one that was there.
  await fixture.branch.fold()
  const next = await fixture.reopen()
  await next.submit({ ...fixture.submission([fixture.create('b')]), time: at(1400) })
  await next.changeState({ ...fixture.author(), time: at(1401) }, () => 'open')
  await next.submit({ ...fixture.submission([fixture.create('c')]), time: at(5001) })
  expect(times()).toEqual([5000, 5000, 5000, 5001])
})

it('a batch that was given a later time is the same when it is sent again', async () => {
  const fixture = await BranchFixture.open()
  await fixture.branch.submit({ ...fixture.submission([fixture.create('a')]), time: at(5000) })
  const late = { ...fixture.submission([fixture.create('b')]), time: at(1400) }
  const receipt = await fixture.branch.submit(late)
  expect(await fixture.branch.submit(late)).toEqual(receipt)
})

it("a mount whose clock is behind does not take a file's ctime back", async () => {
  const fixture = await BranchFixture.open()
  const { branch } = fixture
  const directory = { ...fixture.create('d'), time: at(5000) }
  await branch.submit(fixture.submission([directory]))
  await branch.submit(fixture.submission([chmod(directory.ino, 1400)]))
  expect(ctimeOf(branch, directory.ino)).toBe(5000)
  await branch.submit(fixture.submission([{ ...fixture.create('e'), time: at(1500) }]))
  expect(ctimeOf(branch, rootIno)).toBe(5000)
  await branch.submit(fixture.submission([chmod(directory.ino, 5001)]))
  expect(ctimeOf(branch, directory.ino)).toBe(5001)
})
