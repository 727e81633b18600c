import {
  type BranchId,
  CairnError,
  FsError,
  type Ino,
  isFsError,
  type SessionId,
} from '@cairn/protocol'
import { describe, expect, it, vi } from 'vitest'
import { BranchFixture, main } from '../../test/branch-fixture.ts'
import { refusalOf } from '../../test/refusal.ts'
import { createBranch } from '../layers/fork.ts'
import { batchBytesMax } from './batch.ts'
import { Branch } from './branch.ts'

describe('submit', () => {
  it('a repeated number gets the first receipt, also after a restart', async () => {
    const fixture = await BranchFixture.open()
    const submission = fixture.submission([fixture.create('a')])
    const receipt = await fixture.branch.submit(submission)
    await fixture.makeDirectory(fixture.branch, 'b')
    expect(await fixture.branch.submit(submission)).toEqual(receipt)
    expect(await (await fixture.reopen()).submit(submission)).toEqual(receipt)
    expect(fixture.rows.length).toBe(2)
  })

  it('a refusal looks at the log for a newer head, unless it only has the caller try again', async () => {
    const fixture = await BranchFixture.open()
    await fixture.makeDirectory(fixture.branch, 'a')
    const reading = vi.spyOn(fixture.stores.log, 'read')
    const check = async (): Promise<void> => {
      throw new FsError('EAGAIN')
    }
    const again = { ...fixture.submission([fixture.create('b')]), check }
    await expect(fixture.branch.submit(again)).rejects.toThrow('EAGAIN')
    expect(reading).toHaveBeenCalledTimes(0)
    const refused = fixture.submission([fixture.create('a')])
    await expect(fixture.branch.submit(refused)).rejects.toThrow('EEXIST')
    expect(reading).toHaveBeenCalledTimes(1)
  })

  it('batches that go in together see those before them', async () => {
    const fixture = await BranchFixture.open()
    const parent = fixture.create('x')
    const receipts = await Promise.all([
      fixture.branch.submit(fixture.submission([parent])),
      fixture.branch.submit(fixture.submission([fixture.create('y', parent.ino)])),
      fixture.branch.submit(fixture.submission([fixture.create('z', parent.ino)])),
    ])
    expect(receipts.map(({ seq }) => seq)).toEqual([1, 2, 3])
    expect((await fixture.reopen()).head.view.inode(parent.ino)?.size).toBe(2)
  })

  it('a submission with nothing in memory gives the same tree, and the same refusal', async () => {
    const snapshots = []
    for (const cold of [false, true]) {
      const fixture = await BranchFixture.open()
      const parents = Array.from({ length: 300 }, (_, index) => fixture.create(`d${index}`))
      await fixture.branch.submit(fixture.submission(parents))
      await fixture.branch.fold()
      const branch = cold ? (await fixture.openCold()).branch : fixture.branch
      // Each second one needs the one before it, which misses nodes at first.
      const ops = parents.flatMap(({ ino }) => {
        const child = fixture.create('child', ino)
        return [child, fixture.create('grandchild', child.ino)]
      })
      const refused = branch.submit(fixture.submission([...ops, fixture.create('d7'), ...ops]))
      await expect(refused).rejects.toThrow('EEXIST')
      await branch.submit(fixture.submission(ops))
      snapshots.push((await branch.fold()).snapshot)
    }
    expect(snapshots[1]).toEqual(snapshots[0])
  })

  it('another batch under the same number is a mismatch', async () => {
    const fixture = await BranchFixture.open()
    await fixture.makeDirectory(fixture.branch, 'a')
    const other = fixture.submission([fixture.create('b')], { number: 1 })
    expect(await refusalOf(() => fixture.branch.submit(other))).toEqual({
      code: 'batch_mismatch',
      subject: 's',
    })
    expect(fixture.rows.length).toBe(1)
  })

  it('the same batch of another tool call is a mismatch', async () => {
    const fixture = await BranchFixture.open()
    const submission = fixture.submission([fixture.create('a')], { toolCall: 'call-1' })
    const { seq } = await fixture.branch.submit(submission)
    expect((await fixture.branch.submit(submission)).seq).toBe(seq)
    const other = { ...submission, toolCall: 'call-2' }
    expect((await refusalOf(() => fixture.branch.submit(other)))?.code).toBe('batch_mismatch')
  })

  it('a number below a used one is never accepted', async () => {
    const fixture = await BranchFixture.open()
    await fixture.branch.submit(fixture.submission([fixture.create('a')], { number: 5 }))
    const late = fixture.submission([fixture.create('b')], { number: 3 })
    expect((await refusalOf(() => fixture.branch.submit(late)))?.code).toBe('batch_passed_over')
  })

  it('an epoch that has passed is refused, and so is one that has not come', async () => {
    const fixture = await BranchFixture.open()
    await fixture.branch.raiseEpoch(fixture.author({ session: 'server' as SessionId }))
    for (const epoch of [1, 3]) {
      const stale = fixture.submission([fixture.create('a')], { epoch })
      expect(await refusalOf(() => fixture.branch.submit(stale))).toEqual({
        code: 'stale_epoch',
        subject: 's',
      })
    }
    await fixture.branch.submit(fixture.submission([fixture.create('a')], { epoch: 2 }))
  })

  it('a closed branch takes nothing; opened again, it does', async () => {
    const fixture = await BranchFixture.open()
    const { branch } = fixture
    const server = { session: 'server' as SessionId }
    await branch.changeState(fixture.author(server), () => 'abandoned')
    expect(await refusalOf(() => fixture.makeDirectory(branch, 'a'))).toEqual({
      code: 'layer_closed',
      subject: main,
    })
    await branch.changeState(fixture.author(server), () => 'open')
    await fixture.makeDirectory(branch, 'a')
  })

  it('a state is decided where it will stand, and may be refused there', async () => {
    const fixture = await BranchFixture.open()
    const { branch } = fixture
    const making = fixture.makeDirectory(branch, 'a')
    const places: number[] = []
    await branch.changeState(fixture.author({ session: 'other' as SessionId }), ({ seq }) => {
      places.push(seq)
      return 'conflicted'
    })
    await making
    expect([places, branch.head.position.state]).toEqual([[1], 'conflicted'])
    const refuse = branch.changeState(fixture.author(), () => {
      throw new CairnError('layer_closed', { what: 'write', reason: 'it is closed', subject: main })
    })
    expect(await refusalOf(() => refuse)).toEqual({ code: 'layer_closed', subject: main })
    const stale = branch.changeState(fixture.author(), () => 'open', 7)
    expect(await refusalOf(() => stale)).toMatchObject({ code: 'stale_epoch' })
  })

  it('an unknown branch is missing; a known one is not made again', async () => {
    const { stores } = await BranchFixture.open()
    const absent = Branch.open(stores, 'absent' as BranchId)
    expect(await refusalOf(() => absent)).toEqual({ code: 'branch_missing', subject: 'absent' })
    const again = createBranch(stores, main)
    expect(await refusalOf(() => again)).toEqual({ code: 'branch_exists', subject: main })
  })
})

describe('a batch that cannot be written', () => {
  it('above 4 MiB: too_large', async () => {
    const fixture = await BranchFixture.open()
    const { time, ino } = fixture.create('x')
    const file = { ...fixture.create('x'), ino, kind: 'file' } as const
    const data = { type: 'bytes', bytes: new Uint8Array(batchBytesMax) } as const
    const write = { type: 'write', time, ino, offset: 0, data, dropPrivileges: false } as const
    const submission = fixture.submission([file, write])
    expect((await refusalOf(() => fixture.branch.submit(submission)))?.code).toBe('too_large')
  })

  it('large ones that wait together go in by as many as a database takes at once, in order', async () => {
    const fixture = await BranchFixture.open()
    const append = vi.spyOn(fixture.stores.log, 'append')
    const large = (name: string): ReturnType<Branch['submit']> => {
      const file = { ...fixture.create(name), kind: 'file' } as const
      const data = { type: 'bytes', bytes: new Uint8Array(batchBytesMax - 1000).fill(7) } as const
      const { time, ino } = file
      const write = { type: 'write', time, ino, offset: 0, data, dropPrivileges: false } as const
      return fixture.branch.submit(fixture.submission([file, write]))
    }
    const receipts = await Promise.all(Array.from({ length: 9 }, (_, i) => large(`f${i}`)))
    expect(receipts.map(({ seq }) => seq)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9])
    const sizes = append.mock.calls.map(([, rows]) =>
      rows.reduce((sum, { bytes }) => sum + bytes.length, 0),
    )
    expect(Math.max(...sizes)).toBeLessThanOrEqual(16 << 20)
    expect(sizes.length).toBeLessThan(9)
    expect((await fixture.reopen()).head.position.seq).toBe(9)
  })

  it('leaves nothing behind for those that go in with it', async () => {
    const fixture = await BranchFixture.open()
    const parent = fixture.create('x')
    const child = fixture.create('y', parent.ino)
    const unwritable = {
      type: 'setattr',
      time: parent.time,
      ino: parent.ino,
      uid: 2 ** 32,
    } as const
    // All of them wait while the first is written, so they are planned one on top of the other.
    const [first, broken, orphan] = await Promise.allSettled([
      fixture.makeDirectory(fixture.branch, 'first'),
      fixture.branch.submit(fixture.submission([parent, unwritable])),
      fixture.branch.submit(fixture.submission([child], { session: 'other' as SessionId })),
    ])
    expect(first!.status).toBe('fulfilled')
    expect(broken).toMatchObject({ status: 'rejected', reason: { code: 'malformed' } })
    expect(isFsError((orphan as PromiseRejectedResult).reason, 'ESTALE')).toBe(true)
    const opened = await fixture.reopen()
    expect(opened.head.view.inode(parent.ino)).toBe(undefined)
    expect(opened.head.view.inode(1 as Ino)?.size).toBe(1)
  })
})

describe('a store that does not answer', () => {
  const unavailable = new CairnError('storage_unavailable', {
    what: 'reach the store',
    reason: 'it is away',
  })

  it('before the rows are stored: the error goes to the caller, and a retry writes them once', async () => {
    const fixture = await BranchFixture.open()
    vi.spyOn(fixture.stores.log, 'append').mockRejectedValueOnce(unavailable)
    const submission = fixture.submission([fixture.create('a')])
    expect((await refusalOf(() => fixture.branch.submit(submission)))?.code).toBe(
      'storage_unavailable',
    )
    expect((await fixture.branch.submit(submission)).seq).toBe(1)
    expect(fixture.rows.length).toBe(1)
  })

  it('after the rows are stored: the receipt still comes', async () => {
    const fixture = await BranchFixture.open()
    const { log } = fixture.stores
    const append = log.append.bind(log)
    vi.spyOn(log, 'append').mockImplementationOnce(async (...args) => {
      await append(...args)
      throw unavailable
    })
    expect((await fixture.makeDirectory(fixture.branch, 'a')).seq).toBe(1)
    expect(fixture.rows.length).toBe(1)
  })
})
