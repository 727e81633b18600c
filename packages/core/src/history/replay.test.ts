import { formatHash, type Hash, isCairnError, isFsError, rootIno } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { BranchFixture, main } from '../../test/branch-fixture.ts'
import { sha256 } from '../../test/ports.ts'
import { refusalOf } from '../../test/refusal.ts'
import { resolvePath } from '../filesystem/resolve.ts'
import type { LogRow } from '../ports/log-store.ts'
import { decodeBatch, encodeBatch } from './batch.ts'

const root = { uid: 0, gid: 0, groups: [] }

/** Five directories, one batch each, nothing folded. */
async function withFiveBatches(): Promise<BranchFixture> {
  const fixture = await BranchFixture.open()
  for (const name of ['a', 'b', 'c', 'd', 'e']) await fixture.makeDirectory(fixture.branch, name)
  return fixture
}

/** A row whose batch an attacker changed and hashed again. */
function forge(row: LogRow, change: object): LogRow {
  const bytes = encodeBatch({ ...decodeBatch(row.bytes), ...change })
  return { ...row, bytes, hash: sha256(bytes) }
}

describe('replay', () => {
  it('an untouched log opens', async () => {
    const fixture = await withFiveBatches()
    const branch = await fixture.reopen()
    expect(branch.head.position.seq).toBe(5)
    expect(branch.head.view.entries(rootIno, undefined, 9).map(({ name }) => name)).toEqual([
      'a',
      'b',
      'c',
      'd',
      'e',
    ])
  })

  it('any byte of any row changed, the newest too: the chain is broken', async () => {
    const fixture = await withFiveBatches()
    const whole = [...fixture.rows]
    await fc.assert(
      fc.asyncProperty(
        fc.nat(4),
        fc.nat(),
        fc.integer({ min: 1, max: 255 }),
        async (index, at, change) => {
          const bytes = whole[index]!.bytes.slice()
          bytes[at % bytes.length]! ^= change
          fixture.rows[index] = { ...whole[index]!, bytes }
          expect(await refusalOf(() => fixture.reopen())).toEqual({
            code: 'chain_broken',
            subject: main,
          })
          fixture.rows[index] = whole[index]!
        },
      ),
      { numRuns: 60 },
    )
  })

  it('a row cut short: the chain is broken', async () => {
    const fixture = await withFiveBatches()
    const row = fixture.rows[4]!
    for (const length of [0, 1, row.bytes.length - 1]) {
      fixture.rows[4] = { ...row, bytes: row.bytes.slice(0, length) }
      expect((await refusalOf(() => fixture.reopen()))?.code).toBe('chain_broken')
    }
  })

  const damages: Readonly<Record<string, (rows: LogRow[]) => unknown>> = {
    'a row is gone': (rows) => rows.splice(2, 1),
    'the first row is gone': (rows) => rows.splice(0, 1),
    'two rows are swapped': (rows) => rows.splice(1, 2, rows[2]!, rows[1]!),
    'a row is there twice': (rows) => rows.splice(2, 0, rows[2]!),
    'a batch was changed and hashed again': (rows) =>
      (rows[2] = forge(rows[2]!, { actor: 'another user' })),
    'a batch of another branch': (rows) => (rows[4] = forge(rows[4]!, { branch: 'other' })),
    'a batch with another number than its row': (rows) =>
      (rows[4] = forge(rows[4]!, { number: 9 })),
    'a batch of another session than its row': (rows) =>
      (rows[4] = forge(rows[4]!, { session: 'other' })),
    'a row filed under another number': (rows) => (rows[4] = { ...rows[4]!, seq: 6 }),
    'a batch that skips one': (rows) => (rows[4] = forge(rows[4]!, { seq: 6 })),
  }
  it.each(Object.entries(damages))('%s: the chain is broken', async (_, damage) => {
    const fixture = await withFiveBatches()
    damage(fixture.rows)
    expect(await refusalOf(() => fixture.reopen())).toEqual({ code: 'chain_broken', subject: main })
  })

  it('an operation that fails on replay: the chain is broken, not an errno', async () => {
    const fixture = await withFiveBatches()
    const again = decodeBatch(fixture.rows[0]!.bytes).body
    fixture.rows[4] = forge(fixture.rows[4]!, { body: again })
    const error: unknown = await fixture.reopen().catch((reason: unknown) => reason)
    expect(isCairnError(error, 'chain_broken')).toBe(true)
    expect(isFsError((error as Error).cause, 'EEXIST')).toBe(true)
  })

  it('a row of a newer version, rightly hashed: unsupported', async () => {
    const fixture = await withFiveBatches()
    const bytes = fixture.rows[4]!.bytes.slice()
    bytes[0] = 3
    fixture.rows[4] = { ...fixture.rows[4]!, bytes, hash: sha256(bytes) }
    expect((await refusalOf(() => fixture.reopen()))?.code).toBe('unsupported_version')
  })

  it('a row that is no batch, rightly hashed: malformed', async () => {
    const fixture = await withFiveBatches()
    const bytes = Uint8Array.of(1, 2, 3)
    fixture.rows[4] = { ...fixture.rows[4]!, bytes, hash: sha256(bytes) }
    expect((await refusalOf(() => fixture.reopen()))?.code).toBe('malformed')
  })

  it('what was folded needs its rows no more; what came after is checked against the fold', async () => {
    const fixture = await withFiveBatches()
    const branch = await fixture.reopen()
    await branch.fold()
    await fixture.makeDirectory(branch, 'f')
    fixture.rows[1] = { ...fixture.rows[1]!, bytes: Uint8Array.of(0) }
    expect((await fixture.reopen()).head.position.seq).toBe(6)
    fixture.rows[5] = forge(fixture.rows[5]!, { previous: '\0'.repeat(32) as Hash })
    expect((await refusalOf(() => fixture.reopen()))?.code).toBe('chain_broken')
  })
})

describe('a folded branch on a damaged store', () => {
  it('a file behind a damaged node is corrupt, behind a lost one missing, and never absent', async () => {
    const fixture = await withFiveBatches()
    const branch = await fixture.reopen()
    const { root: top } = (await branch.fold()).snapshot
    const { nodes } = fixture.stores.nodeStore
    const find = async (): Promise<unknown> => {
      const cold = await fixture.openCold()
      const options = { who: root, follow: false }
      return cold.nodes.read(() => resolvePath(cold.branch.head.view, 'a', options))
    }
    const bytes = nodes.get(top)!
    nodes.set(
      top,
      bytes.map((byte, i) => (i === 40 ? byte ^ 1 : byte)),
    )
    expect(await refusalOf(find)).toEqual({ code: 'corrupt', subject: formatHash(top) })
    nodes.delete(top)
    expect(await refusalOf(find)).toEqual({ code: 'node_missing', subject: formatHash(top) })
  })
})
