import { CairnError, isFsError, type SessionId } from '@cairn/protocol'
import { describe, expect, it, vi } from 'vitest'
import { BranchFixture } from '../../test/branch-fixture.ts'
import { refusalOf } from '../../test/refusal.ts'

const unavailable = new CairnError('storage_unavailable', {
  what: 'reach the store',
  reason: 'it is away',
})
const other = 'other' as SessionId

describe('a refusal', () => {
  it('a refusal that a batch on its way caused waits until that one is in the log', async () => {
    const fixture = await BranchFixture.open()
    const { branch } = fixture
    const rowsWhenRefused: number[] = []
    // Those behind the first are planned together, whether or not it goes in with them.
    await Promise.all([
      branch.submit(fixture.submission([fixture.create('a')])),
      branch.submit(fixture.submission([fixture.create('x')])),
      branch
        .submit(fixture.submission([fixture.create('x')], { session: other }))
        .catch(
          (error: unknown) =>
            isFsError(error, 'EEXIST') && rowsWhenRefused.push(fixture.rows.length),
        ),
    ])
    expect(rowsWhenRefused).toEqual([2])
  })

  it('a refusal that a batch caused which never got into the log is not given', async () => {
    const fixture = await BranchFixture.open()
    const { branch, stores } = fixture
    const append = stores.log.append.bind(stores.log)
    vi.spyOn(stores.log, 'append').mockImplementation(async (id, rows) => {
      if (rows.some(({ number }) => number === 2)) throw unavailable
      return append(id, rows)
    })
    const answers = await Promise.allSettled([
      branch.submit(fixture.submission([fixture.create('a')])),
      branch.submit(fixture.submission([fixture.create('x')])),
      branch.submit(fixture.submission([fixture.create('x')], { session: other })),
    ])
    for (const answer of answers.slice(1))
      expect(answer).toMatchObject({ reason: { code: 'storage_unavailable' } })
  })
})

describe('an append that reports a failure, and is stored', () => {
  it('what was refused beside it is told why', async () => {
    const fixture = await BranchFixture.open()
    const { branch, stores } = fixture
    const append = stores.log.append.bind(stores.log)
    vi.spyOn(stores.log, 'append').mockImplementation(async (id, rows) => {
      await append(id, rows)
      throw unavailable
    })
    const [, , refused, accepted] = await Promise.allSettled([
      branch.submit(fixture.submission([fixture.create('a')])),
      branch.submit(fixture.submission([fixture.create('x')])),
      branch.submit(fixture.submission([fixture.create('x')])),
      branch.submit(fixture.submission([fixture.create('y')])),
    ])
    expect(refused).toMatchObject({ reason: { code: 'EEXIST' } })
    expect(accepted).toMatchObject({ value: { seq: 3 } })
  })

  it('in part, because one of its batches came through another server: only that one is acknowledged', async () => {
    const fixture = await BranchFixture.open()
    const { branch, stores } = fixture
    const append = stores.log.append.bind(stores.log)
    vi.spyOn(stores.log, 'append').mockImplementation(async (id, rows) => {
      await append(id, rows.slice(0, 1))
      throw unavailable
    })
    const answers = await Promise.allSettled([
      branch.submit(fixture.submission([fixture.create('a')])),
      branch.submit(fixture.submission([fixture.create('b')])),
      branch.submit(fixture.submission([fixture.create('c')])),
    ])
    const acknowledged = answers.filter(({ status }) => status === 'fulfilled')
    expect(acknowledged.length).toBe(fixture.rows.length)
  })
})

describe('two servers', () => {
  it('what one has written is there for a batch that the other gets', async () => {
    const fixture = await BranchFixture.open()
    const elsewhere = await fixture.reopen()
    const parent = fixture.create('parent')
    await elsewhere.submit(fixture.submission([parent]))
    const child = fixture.submission([fixture.create('child', parent.ino)])
    expect((await fixture.branch.submit(child)).seq).toBe(2)
  })

  it('a batch that one took gives its receipt again where the other knows nothing of it', async () => {
    const fixture = await BranchFixture.open()
    await fixture.makeDirectory(fixture.branch, 'seen')
    const elsewhere = await fixture.reopen()
    const parent = fixture.create('parent')
    await elsewhere.submit(fixture.submission([parent]))
    const child = fixture.submission([fixture.create('child', parent.ino)])
    const receipt = await elsewhere.submit(child)
    expect(await fixture.branch.submit(child)).toEqual(receipt)
  })

  it('an epoch that one has raised is in force on the other', async () => {
    const fixture = await BranchFixture.open()
    const elsewhere = await fixture.reopen()
    await elsewhere.raiseEpoch(fixture.author({ session: 'server' as SessionId }))
    const submission = fixture.submission([fixture.create('a')], { epoch: 2 })
    expect((await fixture.branch.submit(submission)).seq).toBe(2)
  })

  it('a conflict that cannot be looked into is a store that does not answer', async () => {
    const fixture = await BranchFixture.open()
    await fixture.makeDirectory(await fixture.reopen(), 'first')
    vi.spyOn(fixture.stores.log, 'read').mockRejectedValueOnce(unavailable)
    const submission = fixture.submission([fixture.create('a')])
    expect((await refusalOf(() => fixture.branch.submit(submission)))?.code).toBe(
      'storage_unavailable',
    )
    expect((await fixture.branch.submit(submission)).seq).toBe(2)
  })
})
