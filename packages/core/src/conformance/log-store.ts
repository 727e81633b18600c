import { type BranchId, equalBytes, isCairnError, type SessionId } from '@cairn/protocol'
import { batchBytesMax } from '../history/batch.ts'
import type { LogRow, LogStore } from '../ports/log-store.ts'
import { lookAlikes } from './look-alikes.ts'
import { expect, expectCode } from './expect.ts'
import { type StoreCase, type StoreTest, casesOf, uniqueHash, uniqueId } from './store-case.ts'

/** The contract of LogStore. Every implementation passes it, and every decorator around one. */
export const logStoreCases: readonly StoreCase<LogStore>[] = casesOf((test) => {
  readCases(test)
  conflictCases(test)
  numberCases(test)
  trimCases(test)
})

type Test = StoreTest<LogStore>

function readCases(test: Test): void {
  test('a new branch has an empty log', async (store) => {
    const { branch, session } = names()
    expect(await store.read(branch, 0, 10)).toEqual([])
    expect(await store.lastNumber(branch, session)).toBe(0)
    expect(await store.find(branch, session, 1)).toBe(undefined)
  })

  test('rows come back as they were appended, in order', async (store) => {
    const { branch, session } = names()
    const rows = rowsOf(session, 1, 5)
    await store.append(branch, rows.slice(0, 1))
    await store.append(branch, rows.slice(1, 4))
    await store.append(branch, rows.slice(4))
    expect(plain(await store.read(branch, 0, 10))).toEqual(rows)
  })

  test('the answer that a row was appended with comes back with it, also after trimming', async (store) => {
    const { branch, session } = names()
    const [first, second] = rowsOf(session, 1, 2) as [LogRow, LogRow]
    const answered = { ...first, answer: '{"name":"é"}' }
    await store.append(branch, [answered, second])
    expect(plain(await store.read(branch, 0, 10))).toEqual([answered, second])
    await store.trim(branch, 1, [{ ...first, bytes: new Uint8Array(1) }])
    expect((await store.find(branch, session, 1))?.answer).toBe(answered.answer)
    expect((await store.find(branch, session, 2))?.answer).toBe(undefined)
  })

  test('appending nothing succeeds', async (store) => {
    const { branch } = names()
    await store.append(branch, [])
    expect(await store.read(branch, 0, 10)).toEqual([])
  })

  test('read gives up to its limit, after the number it is given', async (store) => {
    const { branch, session } = names()
    const rows = rowsOf(session, 1, 7)
    await store.append(branch, rows)
    expect(plain(await store.read(branch, 0, 3))).toEqual(rows.slice(0, 3))
    expect(plain(await store.read(branch, 3, 3))).toEqual(rows.slice(3, 6))
    expect(plain(await store.read(branch, 6, 3))).toEqual(rows.slice(6))
    expect(await store.read(branch, 7, 3)).toEqual([])
    expect(await store.read(branch, 99, 3)).toEqual([])
    expect(await store.read(branch, 0, 0)).toEqual([])
  })

  test('read gives no more bytes at once than it may, and one row at least', async (store) => {
    const { branch, session } = names()
    const rows = rowsOf(session, 1, 7).map((row) => ({
      ...row,
      bytes: new Uint8Array(batchBytesMax).fill(row.seq),
    }))
    // In two: a database bounds what goes in at once.
    await store.append(branch, rows.slice(0, 3))
    await store.append(branch, rows.slice(3))
    const seqs = async (after: number): Promise<readonly number[]> =>
      (await store.read(branch, after, 256)).map(({ seq }) => seq)
    expect(await seqs(0)).toEqual([1, 2, 3, 4])
    expect(await seqs(4)).toEqual([5, 6, 7])
    expect(await seqs(7)).toEqual([])
  })

  test('a thousand rows go in together and come back page by page', async (store) => {
    const { branch, session } = names()
    const rows = rowsOf(session, 1, 1000)
    await store.append(branch, rows)
    const read: LogRow[] = []
    for (let page = await store.read(branch, 0, 256); page.length > 0;) {
      read.push(...plain(page))
      page = await store.read(branch, read.length, 256)
    }
    expect(read).toEqual(rows)
  })

  test('the largest batch comes back whole', async (store) => {
    const { branch, session } = names()
    const row = rowOf(session, 1, 1, batchBytesMax)
    await store.append(branch, [row])
    const [read] = await store.read(branch, 0, 1)
    expect(equalBytes(read!.bytes, row.bytes)).toBe(true)
  })

  test('changing bytes after they were appended or read changes nothing stored', async (store) => {
    const { branch, session } = names()
    const row = rowOf(session, 1, 1)
    const given = { ...row, bytes: row.bytes.slice() }
    await store.append(branch, [given])
    given.bytes.fill(0)
    const [read] = await store.read(branch, 0, 1)
    expect(plain([read!])).toEqual([row])
    read!.bytes.fill(1)
    const found = await store.find(branch, session, 1)
    expect(plain([found!])).toEqual([row])
    found!.bytes.fill(2)
    expect(plain(await store.read(branch, 0, 1))).toEqual([row])
  })
}

function conflictCases(test: Test): void {
  const wrong: Readonly<Record<string, readonly number[]>> = {
    'the last number again': [3],
    'an older number': [1],
    'a gap': [5],
    'number 0': [0],
    'a good start and then a gap': [4, 6],
    'a good start and then the same number': [4, 4],
    'two good numbers the wrong way round': [5, 4],
  }
  for (const [what, seqs] of Object.entries(wrong))
    test(`${what} is a conflict and changes nothing`, async (store) => {
      const { branch, session } = names()
      const rows = rowsOf(session, 1, 3)
      await store.append(branch, rows)
      const late = seqs.map((seq, i) => rowOf(session, seq, 10 + i))
      await expectCode(store.append(branch, late), 'sequence_conflict', branch)
      expect(plain(await store.read(branch, 0, 10))).toEqual(rows)
      expect(await store.lastNumber(branch, session)).toBe(3)
      expect(await store.find(branch, session, 10)).toBe(undefined)
    })

  test('a log that does not start with 1 is a conflict', async (store) => {
    const { branch, session } = names()
    await expectCode(store.append(branch, rowsOf(session, 2, 1)), 'sequence_conflict', branch)
    expect(await store.read(branch, 0, 10)).toEqual([])
  })

  test('of eight that race for a number, one wins, with all its rows', async (store) => {
    const { branch } = names()
    const racers = Array.from({ length: 8 }, () => rowsOf(uniqueId<SessionId>(), 1, 3))
    const results = await Promise.allSettled(racers.map((rows) => store.append(branch, rows)))
    const won = racers.filter((_, i) => results[i]!.status === 'fulfilled')
    expect(won.length).toBe(1)
    for (const result of results)
      if (result.status === 'rejected')
        expect(isCairnError(result.reason, 'sequence_conflict')).toBe(true)
    expect(plain(await store.read(branch, 0, 99))).toEqual(won[0])
  })

  test('branches do not race with each other', async (store) => {
    const branches = Array.from({ length: 8 }, () => ({ ...names(), rows: [] as LogRow[] }))
    await Promise.all(
      branches.map(async (each) => {
        each.rows = rowsOf(each.session, 1, 4)
        for (const row of each.rows) await store.append(each.branch, [row])
      }),
    )
    for (const { branch, rows } of branches)
      expect(plain(await store.read(branch, 0, 10))).toEqual(rows)
  })
}

function numberCases(test: Test): void {
  test('the last number is the highest one, not the newest', async (store) => {
    const { branch, session } = names()
    await store.append(branch, [rowOf(session, 1, 5), rowOf(session, 2, 3)])
    expect(await store.lastNumber(branch, session)).toBe(5)
  })

  test('numbers go up to 2^53 − 1', async (store) => {
    const { branch, session } = names()
    const row = rowOf(session, 1, Number.MAX_SAFE_INTEGER)
    await store.append(branch, [row])
    expect(await store.lastNumber(branch, session)).toBe(Number.MAX_SAFE_INTEGER)
    const found = await store.find(branch, session, Number.MAX_SAFE_INTEGER)
    expect(plain([found!])).toEqual([row])
    expect(await store.find(branch, session, Number.MAX_SAFE_INTEGER - 1)).toBe(undefined)
  })

  test('a row is found by its branch, session and number', async (store) => {
    const [a, b] = [names(), names()]
    const rows = [rowOf(a.session, 1, 1), rowOf(b.session, 2, 1), rowOf(a.session, 3, 2)]
    await store.append(a.branch, rows)
    await store.append(b.branch, [rowOf(a.session, 1, 7)])
    expect(plain([(await store.find(a.branch, a.session, 2))!])).toEqual([rows[2]])
    expect(plain([(await store.find(a.branch, b.session, 1))!])).toEqual([rows[1]])
    expect(await store.find(a.branch, b.session, 2)).toBe(undefined)
    expect(await store.find(b.branch, a.session, 1)).toBe(undefined)
    expect(await store.lastNumber(a.branch, a.session)).toBe(2)
    expect(await store.lastNumber(b.branch, a.session)).toBe(7)
    expect(await store.lastNumber(b.branch, b.session)).toBe(0)
  })

  test('branches whose names look alike have logs of their own', async (store) => {
    const branches = lookAlikes<BranchId>()
    for (const [i, branch] of branches.entries())
      await store.append(branch, rowsOf('s' as SessionId, 1, i + 1))
    for (const [i, branch] of branches.entries())
      expect((await store.read(branch, 0, 99)).length).toBe(i + 1)
  })

  test('sessions whose names look alike have numbers of their own', async (store) => {
    const { branch } = names()
    const sessions = lookAlikes<SessionId>()
    await store.append(
      branch,
      sessions.map((session, i) => rowOf(session, i + 1, i + 1)),
    )
    for (const [i, session] of sessions.entries()) {
      expect(await store.lastNumber(branch, session)).toBe(i + 1)
      expect((await store.find(branch, session, i + 1))?.session).toBe(session)
    }
  })
}

function trimCases(test: Test): void {
  test('trimmed rows have their new bytes, and the others what they had', async (store) => {
    const { branch, session } = names()
    const rows = rowsOf(session, 1, 5)
    await store.append(branch, rows)
    expect(await store.trimmedTo(branch)).toBe(0)
    const short = { ...rows[1]!, bytes: Uint8Array.of(1, 2, 3) }
    await store.trim(branch, 3, [short])
    expect(plain(await store.read(branch, 0, 10))).toEqual([rows[0], short, ...rows.slice(2)])
    expect(plain([(await store.find(branch, session, 2))!])).toEqual([short])
    expect(await store.trimmedTo(branch)).toBe(3)
    await store.append(branch, [rowOf(session, 6, 6)])
    expect(await store.trimmedTo(branch)).toBe(3)
  })

  test('trimming again, or less far, changes nothing that was noted', async (store) => {
    const { branch, session } = names()
    const rows = rowsOf(session, 1, 3)
    await store.append(branch, rows)
    await store.trim(branch, 3, [])
    await store.trim(branch, 1, [{ ...rows[0]!, bytes: Uint8Array.of(9) }])
    expect(await store.trimmedTo(branch)).toBe(3)
    expect((await store.read(branch, 0, 1))[0]!.bytes.length).toBe(1)
  })

  test('a row of another hash, or none, is not trimmed', async (store) => {
    const [{ branch, session }, other] = [names(), names()]
    const rows = rowsOf(session, 1, 2)
    await store.append(branch, rows)
    const bytes = Uint8Array.of(0)
    await store.trim(branch, 2, [{ ...rows[0]!, hash: uniqueHash(), bytes }])
    await store.trim(branch, 2, [{ ...rowOf(session, 7, 7), bytes }])
    await store.trim(other.branch, 2, [{ ...rows[0]!, bytes }])
    expect(plain(await store.read(branch, 0, 10))).toEqual(rows)
    expect(await store.read(other.branch, 0, 10)).toEqual([])
  })
}

function names(): { branch: BranchId; session: SessionId } {
  return { branch: uniqueId(), session: uniqueId() }
}

/** Rows numbered by their session from 1 on. */
function rowsOf(session: SessionId, seq: number, count: number): LogRow[] {
  return Array.from({ length: count }, (_, i) => rowOf(session, seq + i, i + 1))
}

function rowOf(session: SessionId, seq: number, number: number, length = 300): LogRow {
  const bytes = Uint8Array.from({ length }, (_, i) => (i + seq) & 0xff)
  return { seq, session, number, bytes, hash: uniqueHash() }
}

/** Stores may give a subclass of Uint8Array, as Node's Buffer is, and more fields. */
function plain(rows: readonly LogRow[]): LogRow[] {
  return rows.map(({ seq, session, number, bytes, hash, answer }) => ({
    seq,
    session,
    number,
    bytes: Uint8Array.from(bytes),
    hash,
    ...(answer === undefined ? {} : { answer }),
  }))
}
