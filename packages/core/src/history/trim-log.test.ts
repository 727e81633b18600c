import { type Hash, type Ino, isCairnError } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { BranchFixture, main } from '../../test/branch-fixture.ts'
import { sha256 } from '../../test/ports.ts'
import { readFile } from '../filesystem/read-file.ts'
import type { Op } from '../filesystem/op.ts'
import { type Batch, decodeBatch, encodeBatch } from './batch.ts'
import type { Branch } from './branch.ts'
import { hashOfRow } from './reference.ts'
import { trimLog } from './trim-log.ts'

const longBytes = 5000

describe('trimLog', () => {
  let fixture: Awaited<ReturnType<typeof BranchFixture.open>>
  let file: Ino
  let stopped: Branch

  const write = (offset: number, length: number, fill: number): Op => ({
    type: 'write',
    time: { sec: 1, nsec: 0 },
    ino: file,
    offset,
    data: { type: 'bytes', bytes: new Uint8Array(length).fill(fill) },
    dropPrivileges: false,
  })
  const submit = (...ops: Op[]): Promise<{ readonly hash: Hash }> =>
    fixture.branch.submit(fixture.submission(ops))
  const sizes = (): number[] => fixture.rows.map(({ bytes }) => bytes.length)
  const contentOf = async ({ head }: Branch): Promise<string> => {
    const { nodes, blobs } = fixture.stores
    const inode = await nodes.read(() => head.view.inode(file)!)
    const bytes = await readFile(nodes, blobs, head.view, file, inode)
    return Buffer.from(bytes).toString('latin1')
  }

  beforeEach(async () => {
    fixture = await BranchFixture.open()
    // Stands where the log begins, as a server does that has not looked since.
    stopped = await fixture.reopen()
    const create = { ...fixture.create('f'), kind: 'file', mode: 0o644 } as const
    file = create.ino
    await submit(create)
    await submit(write(0, longBytes, 65))
    await submit(write(100, 300, 66), write(longBytes, 10, 67))
  })

  it('rows up to the fold lose the bytes it has stored, and nothing else', async () => {
    await fixture.branch.fold()
    await submit(write(0, longBytes, 68))
    const [before, batches] = [sizes(), fixture.rows.map(({ bytes }) => decodeBatch(bytes))]
    expect(await trimLog(fixture.stores, main)).toBe(3)
    expect(sizes()).toEqual([before[0], expect.any(Number), expect.any(Number), before[3]])
    expect(sizes()[1]).toBeLessThan(200)
    const content = new Uint8Array(longBytes).fill(65)
    const named = { type: 'blob', id: sha256(content), blobLength: longBytes, start: 0 }
    expect(fixture.rows.map(({ bytes }) => decodeBatch(bytes))).toEqual([
      batches[0],
      { ...batches[1], body: { type: 'ops', ops: [withData({ ...named, length: longBytes })] } },
      expect.objectContaining({ seq: 3, previous: batches[2]!.previous }) as Batch,
      batches[3],
    ])
  })

  it('the chain holds before and after, and a second run finds nothing', async () => {
    await fixture.branch.fold()
    const hashes = (): Hash[] => fixture.rows.map(({ bytes }) => hashOfRow(bytes, sha256))
    const before = hashes()
    expect(before).toEqual(fixture.rows.map(({ hash }) => hash))
    await trimLog(fixture.stores, main)
    expect(hashes()).toEqual(before)
    const after = sizes()
    fixture.stores.log.read = () => Promise.reject(new Error('there is nothing to read'))
    expect(await trimLog(fixture.stores, main)).toBe(3)
    expect(sizes()).toEqual(after)
  })

  it('what is not folded, or whose fold is not written down, stays', async () => {
    const before = sizes()
    await fixture.branch.head.fold()
    expect(await trimLog(fixture.stores, main)).toBe(0)
    expect(sizes()).toEqual(before)
  })

  it('a server that was behind the fold takes it over, and tells of every batch', async () => {
    await fixture.branch.fold()
    await submit(write(0, 3, 69))
    const wanted = await contentOf(fixture.branch)
    await trimLog(fixture.stores, main)
    const heard: number[] = []
    stopped.subscribe(({ seq }) => heard.push(seq))
    await stopped.refresh()
    expect(await contentOf(stopped)).toBe(wanted)
    expect(heard).toEqual([1, 2, 3, 4])
    expect(stopped.head.position).toEqual(fixture.branch.head.position)
    // It writes on from there, and what it folds is right.
    await stopped.submit(fixture.submission([write(1, 1, 70)]))
    await stopped.fold()
    expect(await contentOf(await fixture.reopen())).toBe(`${wanted[0]}F${wanted.slice(2)}`)
  })

  it('a log that was damaged behind the fold is not jumped over', async () => {
    await fixture.branch.fold()
    await trimLog(fixture.stores, main)
    const row = fixture.rows[1]!
    fixture.rows[1] = { ...row, bytes: row.bytes.map((byte, i) => (i === 90 ? byte ^ 1 : byte)) }
    const error: unknown = await stopped.refresh().catch((reason: unknown) => reason)
    expect(isCairnError(error, 'chain_broken')).toBe(true)
  })

  it('a damaged row is not trimmed, so a check still finds it', async () => {
    await fixture.branch.fold()
    const row = fixture.rows[1]!
    const bytes = row.bytes.map((byte, i) => (i === 1000 ? byte ^ 1 : byte))
    fixture.rows[1] = { ...row, bytes }
    await trimLog(fixture.stores, main)
    expect(fixture.rows[1].bytes).toEqual(bytes)
    expect(hashOfRow(bytes, sha256)).not.toBe(row.hash)
  })

  it('a batch sent again after it was trimmed gets its receipt; another under its number does not', async () => {
    const ops = [write(7, 400, 71)]
    const submission = fixture.submission(ops)
    const receipt = await fixture.branch.submit(submission)
    await fixture.branch.fold()
    await trimLog(fixture.stores, main)
    const cold = await fixture.reopen()
    expect(await cold.submit(submission)).toEqual(receipt)
    const other = { ...submission, ops: [write(7, 400, 72)] }
    await expect(cold.submit(other)).rejects.toMatchObject({ code: 'batch_mismatch' })
  })

  it('rows of the first version are hashed as they were, and stay whole', async () => {
    await fixture.branch.fold()
    const [first, second] = fixture.rows as [LogRowOf, LogRowOf]
    const bytes = encodeBatch(decodeBatch(second.bytes))
    bytes[0] = 1
    fixture.rows[1] = { ...second, bytes, hash: sha256(bytes) }
    await trimLog(fixture.stores, main)
    expect([fixture.rows[0], fixture.rows[1]]).toEqual([
      first,
      { ...second, bytes, hash: sha256(bytes) },
    ])
    expect(hashOfRow(bytes, sha256)).toBe(sha256(bytes))
  })
})

type LogRowOf = BranchFixture['rows'][number]

function withData(data: object): unknown {
  return expect.objectContaining({ type: 'write', data }) as unknown
}
