import { type BranchId, type CheckpointId, type Hash, isCairnError } from '@cairn/protocol'
import { branchStates, type Snapshot } from '../ports/records.ts'
import type { BranchRecord, Checkpoint, RefStore } from '../ports/ref-store.ts'
import { lookAlikes } from './look-alikes.ts'
import { expect, expectCode } from './expect.ts'
import { type StoreCase, type StoreTest, casesOf, uniqueHash, uniqueId } from './store-case.ts'

/** The contract of RefStore. Every implementation passes it, and every decorator around one. */
export const refStoreCases: readonly StoreCase<RefStore>[] = casesOf((test) => {
  branchCases(test)
  updateCases(test)
  checkpointCases(test)
})

type Test = StoreTest<RefStore>

function branchCases(test: Test): void {
  test('a branch comes back as it was made', async (store) => {
    for (const state of branchStates) {
      const record = recordOf({ state })
      await store.createBranch(record)
      expect(plain(await store.getBranch(record.id))).toEqual(record)
    }
  })

  test('parent, numbers at their limits, any hash and every kind of resolution are kept', async (store) => {
    const extreme = ['\0'.repeat(32), '\xff'.repeat(32), `'"\\%\r\n\0${'\x80'.repeat(25)}`]
    for (const hash of extreme as Hash[]) {
      const snapshot = { root: hash, orphans: hash }
      const seq = Number.MAX_SAFE_INTEGER
      const record: BranchRecord = {
        ...recordOf({ state: 'open' }),
        parent: uniqueId<BranchId>(),
        base: snapshot,
        firstBase: hash,
        baseSeq: seq,
        next: [
          { base: snapshot, baseSeq: 0, branch: uniqueId<BranchId>(), seq: 1, after: hash },
          { base: snapshot, baseSeq: seq, branch: uniqueId<BranchId>(), seq, after: hash },
        ],
        folded: { seq, hash, epoch: seq, state: 'open', snapshot },
        resolutions: [
          { conflict: 'edit/edit:1', choice: { type: 'layer' } },
          { conflict: 'add/add:2', choice: { type: 'target' } },
          { conflict: 'mode:3', choice: { type: 'bytes', bytes: everyByte } },
          { conflict: 'mode:4', choice: { type: 'bytes', bytes: new Uint8Array() } },
        ],
      }
      await store.createBranch(record)
      expect(plain(await store.getBranch(record.id))).toEqual(record)
    }
  })

  test('an unknown branch is branch_missing', async (store) => {
    const { id } = recordOf({})
    await expectCode(store.getBranch(id), 'branch_missing', id)
    await expectCode(store.updateBranch(recordOf({ id, version: 2 })), 'branch_missing', id)
  })

  test('an id that is taken is branch_exists, and the branch stays as it is', async (store) => {
    const record = recordOf({})
    await store.createBranch(record)
    await expectCode(store.createBranch(recordOf({ id: record.id })), 'branch_exists', record.id)
    expect(plain(await store.getBranch(record.id))).toEqual(record)
  })

  test('of eight that make one branch, one succeeds', async (store) => {
    const id = uniqueId<BranchId>()
    const records = Array.from({ length: 8 }, () => recordOf({ id }))
    const results = await Promise.allSettled(records.map((each) => store.createBranch(each)))
    const won = records.filter((_, i) => results[i]!.status === 'fulfilled')
    expect(won.length).toBe(1)
    for (const result of results)
      if (result.status === 'rejected')
        expect(isCairnError(result.reason, 'branch_exists')).toBe(true)
    expect(plain(await store.getBranch(id))).toEqual(won[0])
  })

  test('branches whose names look alike are different ones', async (store) => {
    const records = lookAlikes<BranchId>().map((id) => recordOf({ id }))
    for (const record of records) await store.createBranch(record)
    for (const record of records) expect(plain(await store.getBranch(record.id))).toEqual(record)
  })
}

function updateCases(test: Test): void {
  test('an update with the next version replaces everything', async (store) => {
    const record = recordOf({})
    await store.createBranch(record)
    const updated: BranchRecord = {
      ...recordOf({ id: record.id, state: 'conflicted', version: 2 }),
      resolutions: [{ conflict: 'mode:3', choice: { type: 'bytes', bytes: everyByte } }],
    }
    expect(await store.updateBranch(updated)).toBe(true)
    expect(plain(await store.getBranch(record.id))).toEqual(updated)
  })

  test('an update with any other version is refused and changes nothing', async (store) => {
    const record = recordOf({ version: 5 })
    await store.createBranch(record)
    for (const version of [1, 4, 5, 7])
      expect(await store.updateBranch(recordOf({ id: record.id, version }))).toBe(false)
    expect(plain(await store.getBranch(record.id))).toEqual(record)
  })

  test('of eight that update one version, one succeeds', async (store) => {
    const { id } = recordOf({})
    await store.createBranch(recordOf({ id }))
    for (let version = 2; version < 6; version++) {
      const records = Array.from({ length: 8 }, () => recordOf({ id, version }))
      const results = await Promise.all(records.map((each) => store.updateBranch(each)))
      const won = records.filter((_, i) => results[i])
      expect(won.length).toBe(1)
      expect(plain(await store.getBranch(id))).toEqual(won[0])
    }
  })

  test('changing a record after it was given or got changes nothing stored', async (store) => {
    const bytes = everyByte.slice()
    const resolutions = [{ conflict: 'mode:3', choice: { type: 'bytes', bytes } as const }]
    const record: BranchRecord = { ...recordOf({}), resolutions }
    const before = plain(record)
    await store.createBranch(record)
    bytes.fill(0)
    resolutions.pop()
    const got = await store.getBranch(record.id)
    expect(plain(got)).toEqual(before)
    const { choice } = got.resolutions[0]!
    if (choice.type === 'bytes') choice.bytes.fill(1)
    expect(plain(await store.getBranch(record.id))).toEqual(before)
  })
}

function checkpointCases(test: Test): void {
  test('a checkpoint comes back as it was put, and may be put again', async (store) => {
    const branch = await newBranch(store)
    const checkpoint = {
      ...checkpointOf(branch, Number.MAX_SAFE_INTEGER),
      label: '\u{1f5fb} "before"\n\'the\' build\\',
      time: { sec: -62_135_596_801, nsec: 999_999_999 },
    }
    await store.putCheckpoint(checkpoint)
    await store.putCheckpoint(checkpoint)
    expect(await store.getCheckpoint(branch, checkpoint.id)).toEqual(checkpoint)
    expect(await store.listCheckpoints(branch)).toEqual([checkpoint])
  })

  test('an unknown checkpoint is checkpoint_missing, also one of another branch', async (store) => {
    const [branch, other] = [await newBranch(store), await newBranch(store)]
    const checkpoint = checkpointOf(branch, 1)
    await store.putCheckpoint(checkpoint)
    const absent = uniqueId<CheckpointId>()
    await expectCode(store.getCheckpoint(branch, absent), 'checkpoint_missing', absent)
    const elsewhere = store.getCheckpoint(other, checkpoint.id)
    await expectCode(elsewhere, 'checkpoint_missing', checkpoint.id)
  })

  test('checkpoints are listed by sequence number, those of the branch only', async (store) => {
    const [branch, other] = [await newBranch(store), await newBranch(store)]
    expect(await store.listCheckpoints(branch)).toEqual([])
    const made = [10, 2, 33, 1, 200].map((seq) => checkpointOf(branch, seq))
    for (const checkpoint of made) await store.putCheckpoint(checkpoint)
    await store.putCheckpoint(checkpointOf(other, 3))
    expect((await store.listCheckpoints(branch)).map(({ seq }) => seq)).toEqual([1, 2, 10, 33, 200])
  })

  test('two checkpoints of one moment are both listed', async (store) => {
    const branch = await newBranch(store)
    const made = [checkpointOf(branch, 4), checkpointOf(branch, 4)]
    for (const checkpoint of made) await store.putCheckpoint(checkpoint)
    const listed = await store.listCheckpoints(branch)
    expect(new Set(listed.map(({ id }) => id))).toEqual(new Set(made.map(({ id }) => id)))
  })

  test('an unknown branch has no checkpoints', async (store) => {
    expect(await store.listCheckpoints(uniqueId())).toEqual([])
  })

  test('branch and id together name a checkpoint, wherever a slash stands', async (store) => {
    const start = uniqueId()
    const names = [
      { branch: `${start}/a` as BranchId, id: 'b/c' as CheckpointId },
      { branch: `${start}/a/b` as BranchId, id: 'c' as CheckpointId },
    ]
    for (const [i, { branch, id }] of names.entries()) {
      await store.createBranch(recordOf({ id: branch }))
      await store.putCheckpoint({ ...checkpointOf(branch, i + 1), id })
    }
    for (const [i, { branch, id }] of names.entries()) {
      expect((await store.getCheckpoint(branch, id)).seq).toBe(i + 1)
      expect((await store.listCheckpoints(branch)).length).toBe(1)
    }
  })

  test('checkpoints whose names look alike are different ones', async (store) => {
    const branch = await newBranch(store)
    const ids = lookAlikes<CheckpointId>()
    for (const [i, id] of ids.entries())
      await store.putCheckpoint({ ...checkpointOf(branch, i + 1), id })
    for (const [i, id] of ids.entries())
      expect((await store.getCheckpoint(branch, id)).seq).toBe(i + 1)
  })
}

const everyByte = Uint8Array.from({ length: 256 }, (_, i) => i)

interface RecordFields {
  readonly id?: BranchId
  readonly state?: BranchRecord['folded']['state']
  readonly version?: number
}

function recordOf({ id = uniqueId(), state = 'open', version = 1 }: RecordFields): BranchRecord {
  const folded = { seq: 0, hash: uniqueHash(), epoch: 1, state, snapshot: snapshotOf() }
  const base = { base: snapshotOf(), baseSeq: undefined, next: [] }
  return { id, parent: undefined, ...base, folded, resolutions: [], version }
}

function snapshotOf(): Snapshot {
  return { root: uniqueHash(), orphans: uniqueHash() }
}

function checkpointOf(branch: BranchId, seq: number): Checkpoint {
  const time = { sec: 1_700_000_000, nsec: 5 }
  return { id: uniqueId(), branch, label: 'a label', seq, snapshot: snapshotOf(), time }
}

async function newBranch(store: RefStore): Promise<BranchId> {
  const record = recordOf({})
  await store.createBranch(record)
  return record.id
}

/** Stores may give a subclass of Uint8Array, as Node's Buffer is. */
function plain(record: BranchRecord): BranchRecord {
  const resolutions = record.resolutions.map(({ conflict, choice }) => ({
    conflict,
    choice:
      choice.type === 'bytes'
        ? { type: choice.type, bytes: Uint8Array.from(choice.bytes) }
        : choice,
  }))
  return { ...record, resolutions }
}
