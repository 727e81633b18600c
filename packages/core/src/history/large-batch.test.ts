import { rootIno } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { BranchFixture, main } from '../../test/branch-fixture.ts'
import { sha256 } from '../../test/ports.ts'
import type { View } from '../filesystem/view.ts'
import { Nodes } from '../tree/nodes.ts'
import { Branch } from './branch.ts'
import type { FoldPoint } from '../ports/records.ts'

const many = 3000

/** A branch that rests wherever it may, and does something each time. */
async function openResting(
  fixture: BranchFixture,
): Promise<{ branch: Branch; atRest: (look: () => void) => void }> {
  let look = (): void => {}
  const rest = async (): Promise<void> => look()
  const pacer = { isDue: () => true, rest }
  const { nodeStore, blobs, log, refs } = fixture.stores
  const nodes = new Nodes({ store: nodeStore, hash: sha256, pacer })
  const branch = await Branch.open({ nodes, blobs, log, refs }, main)
  return { branch, atRest: (next) => (look = next) }
}

function names(view: View): number {
  return view.entries(rootIno, undefined, 2 * many).length
}

describe('a batch too large for one turn', () => {
  it('a batch too large for one turn is seen as a whole or not at all', async () => {
    const fixture = await BranchFixture.open()
    const { branch, atRest } = await openResting(fixture)
    const seen = new Set<string>()
    atRest(() => seen.add(`${branch.head.position.seq}: ${names(branch.head.view)}`))
    const ops = Array.from({ length: many }, (_, i) => fixture.create(`d${i}`))
    await branch.submit(fixture.submission(ops))
    await branch.refresh()
    expect([...seen]).toEqual(['0: 0', `1: ${many}`])
  })

  it('leaves no name that leads nowhere to a reader that began before it', async () => {
    const fixture = await BranchFixture.open()
    const { branch, atRest } = await openResting(fixture)
    const ops = Array.from({ length: many }, (_, i) => fixture.create(`d${i}`))
    await branch.submit(fixture.submission(ops))
    await branch.refresh()
    const view = branch.head.view
    let rests = 0
    atRest(() => {
      if (branch.head.position.seq < 2) return
      rests++
      for (const { ino } of view.entries(rootIno, undefined, many))
        if (!view.inode(ino)) throw new Error(`inode ${ino} is gone before its name`)
    })
    const time = { sec: 2000, nsec: 0 }
    const removals = ops.flatMap(({ name, ino }) => [
      { type: 'rmdir', time, parent: rootIno, name } as const,
      { type: 'reap', ino } as const,
    ])
    await branch.submit(fixture.submission(removals))
    await branch.refresh()
    expect({ left: names(view), looked: rests > 3 }).toEqual({ left: 0, looked: true })
  })

  it('folds to the same tree when the fold begins or ends in the middle of it', async () => {
    const fixture = await BranchFixture.open()
    const { branch, atRest } = await openResting(fixture)
    await branch.submit(fixture.submission([fixture.create('before')]))
    const folds: Promise<FoldPoint>[] = []
    const begun = new Map<number, number>()
    atRest(() => {
      const { seq } = branch.head.position
      const count = begun.get(seq) ?? 0
      if (count === 3) return
      begun.set(seq, count + 1)
      folds.push(branch.fold())
    })
    const ops = Array.from({ length: many }, (_, i) => fixture.create(`d${i}`))
    await branch.submit(fixture.submission(ops))
    const used = await branch.head.usage()
    await Promise.all(folds)
    const folded = await branch.fold()
    const other = await BranchFixture.open()
    await other.branch.submit(other.submission([other.create('before')]))
    await other.branch.submit(other.submission(ops))
    expect(folded.snapshot).toEqual((await other.branch.fold()).snapshot)
    expect(used.files).toBe(many + 1)
    expect([...begun.keys()]).toEqual([1, 2])
  })
})

describe('many batches that go in together', () => {
  it('many batches that go in together are in the head when they are told of, and not before', async () => {
    const fixture = await BranchFixture.open()
    const { branch, atRest } = await openResting(fixture)
    const seen = new Set<string>()
    let told = 0
    branch.subscribe(({ seq }) => (told = seq))
    atRest(() => {
      const { seq } = branch.head.position
      seen.add(`${seq} in the head, ${told} told, ${names(branch.head.view)} names`)
    })
    await Promise.all(
      ['a', 'b', 'c'].map((name) => branch.submit(fixture.submission([fixture.create(name)]))),
    )
    await branch.refresh()
    expect([...seen]).toEqual([0, 1, 2, 3].map((n) => `${n} in the head, ${n} told, ${n} names`))
  })
})
