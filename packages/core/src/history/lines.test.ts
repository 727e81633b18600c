import { CairnError, type SessionId } from '@cairn/protocol'
import { describe, expect, it, vi } from 'vitest'
import { BranchFixture } from '../../test/branch-fixture.ts'
import type { Branch } from './branch.ts'
import type { Submission } from './draft.ts'

const unavailable = new CairnError('storage_unavailable', {
  what: 'reach the store',
  reason: 'it is away',
})

/** Submits one that finds no answer, and the others while the log is still being asked. */
async function submitBehindFailure(
  { branch, stores }: { readonly branch: Branch; readonly stores: BranchFixture['stores'] },
  [first, ...others]: readonly Submission[],
): Promise<readonly string[]> {
  const asked = Promise.withResolvers<void>()
  const failed = Promise.withResolvers<void>()
  vi.spyOn(stores.log, 'append').mockImplementationOnce(async () => {
    asked.resolve()
    await failed.promise
    throw unavailable
  })
  const sent = [branch.submit(first!)]
  await asked.promise
  sent.push(...others.map((other) => branch.submit(other)))
  failed.resolve()
  return (await Promise.allSettled(sent)).map(({ status }) => status)
}

describe('submissions of one line', () => {
  it('one without an answer takes those behind it along; over a new line all go in order', async () => {
    const fixture = await BranchFixture.open()
    const line = {}
    const sent = ['a', 'b', 'c'].map((name) => ({
      ...fixture.submission([fixture.create(name)]),
      line,
    }))
    expect(await submitBehindFailure(fixture, sent)).toEqual(['rejected', 'rejected', 'rejected'])
    for (const submission of sent) await fixture.branch.submit({ ...submission, line: {} })
    expect(fixture.rows.map(({ number }) => number)).toEqual([1, 2, 3])
  })

  it('a refusal is an answer: those behind it are taken', async () => {
    const fixture = await BranchFixture.open()
    const line = {}
    await fixture.makeDirectory(fixture.branch, 'a')
    const again = { ...fixture.submission([fixture.create('a')]), line }
    const next = { ...fixture.submission([fixture.create('b')]), line }
    expect(
      await Promise.allSettled([fixture.branch.submit(again), fixture.branch.submit(next)]),
    ).toMatchObject([{ reason: { code: 'EEXIST' } }, { value: { seq: 2 } }])
  })

  it('other lines are not concerned', async () => {
    const fixture = await BranchFixture.open()
    const first = { ...fixture.submission([fixture.create('a')]), line: {} }
    const session = 'other' as SessionId
    const other = { ...fixture.submission([fixture.create('b')], { session }), line: {} }
    expect(await submitBehindFailure(fixture, [first, other])).toEqual(['rejected', 'fulfilled'])
  })
})
