import {
  casesOf,
  codeOf,
  expect,
  expectCode,
  type StoreCase,
  type StoreTest,
  uniqueId,
} from '@cairn/core/conformance'
import { checkJournal, type JournalVerdict, type JournalWitness } from '@cairn/protocol'
import { findEntries } from '../journal/find.ts'
import { followJournal } from '../http/follow-journal.ts'
import type { JournalAsker, JournalKeeper } from '../journal/journal-keeper.ts'
import { journalCrypto } from '../journal/signing-keys.ts'
import { openMasterKey } from '../access/master-key.ts'
import type { Database, SqlValue } from '../storage/database.ts'
import { openVaultTables } from '../storage/vault-tables.ts'
import { openVaultDoor } from '../open-vault.ts'
import { systemClock } from '../ports/clock.ts'
import { withTemporaryDirectory } from './temporary-directory.ts'

interface JournalStores {
  readonly journals: JournalKeeper
  /** Another server on the same database. */
  readonly others: JournalKeeper
  readonly asker: JournalAsker
  readonly id: string
}

/** A journal with a few entries. */
async function at(
  database: Database,
  body: (place: JournalStores) => Promise<void>,
): Promise<void> {
  await withTemporaryDirectory(async (data) => {
    const master = await openMasterKey({ data })
    const open = (): JournalKeeper =>
      openVaultDoor({ vault: openVaultTables(database) }, master, systemClock()).journals
    const [journals, others] = [open(), open()]
    const asker = { workspace: uniqueId(), actor: 'key_1' }
    const id = 'run-42'
    await journals.create(asker, { id, title: 'run 42', kind: 'test', meta: { env: 'ci' } })
    await journals.append(asker, id, [{ type: 'begin' }, { type: 'step', summary: { n: 1.5 } }])
    await journals.append(asker, id, [{ type: 'end', status: 'ok', subjects: ['file:/ä'] }])
    await body({ journals, others, asker, id })
  })
}

async function exported({ journals, asker, id }: JournalStores): Promise<string> {
  let text = ''
  for await (const line of journals.export(asker.workspace, id)) text += line
  return text
}

/** As an auditor would who has only the file. */
export function checkText(text: string, witness: JournalWitness = {}): Promise<JournalVerdict> {
  const lines = text.split('\n')
  const last = lines.pop()!
  if (last !== '') lines.push(`${last} without an end`)
  const each = async function* (): AsyncGenerator<string> {
    yield* lines
  }
  return checkJournal(each(), journalCrypto, witness)
}

/** Journals on whichever database. */
export const journalCases: readonly StoreCase<Database>[] = casesOf((test) => {
  appendCases(test)
  readCases(test)
  tamperingCases(test)
})

function appendCases(test: StoreTest<Database>): void {
  test('what is told once is there once, however often and wherever it is sent', (database) =>
    at(database, async ({ journals, others, asker, id }) => {
      const once = { ...asker, idempotencyKey: 'k' }
      const entries = [{ type: 'a' }, { type: 'b' }]
      const answers = await Promise.all(
        [journals, others, journals, others].map((each) => each.append(once, id, entries)),
      )
      expect(answers.map(({ first, last, hash }) => ({ first, last, hash }))).toEqual(
        Array.from({ length: 4 }, () => ({ first: 4, last: 5, hash: answers[0]!.hash })),
      )
      await expectCode(journals.append(once, id, [{ type: 'c' }]), 'idempotency_mismatch')
      expect((await journals.verify(asker.workspace, id)).entries).toBe(5)
    }))

  test('appends of several writers on two servers all get in, each whole', (database) =>
    at(database, async ({ journals, others, asker, id }) => {
      const appends = Array.from({ length: 24 }, (_, n) =>
        (n % 2 === 0 ? journals : others).append(asker, id, [
          { type: 'pair', status: String(n) },
          { type: 'pair', status: String(n) },
        ]),
      )
      const receipts = await Promise.all(appends)
      expect(new Set(receipts.map(({ first }) => first)).size).toBe(24)
      const { items } = await journals.read(asker.workspace, id, 3, 1000)
      const found = items.map(({ status }) => status)
      for (let at = 0; at < found.length; at += 2) expect(found[at]).toBe(found[at + 1])
      expect(await journals.verify(asker.workspace, id)).toMatchObject({
        entries: 51,
        sealed: false,
      })
    }))

  test('a seal ends it, on every server', (database) =>
    at(database, async ({ journals, others, asker, id }) => {
      const sealed = await journals.seal(asker, id, 'over')
      expect(sealed.head.sealed).toBe(true)
      await expectCode(others.append(asker, id, [{ type: 'late' }]), 'journal_sealed')
      expect((await others.seal(asker, id)).last).toBe(sealed.last)
      expect(await journals.verify(asker.workspace, id)).toMatchObject({ entries: 4, sealed: true })
    }))

  test('beginning it in the same words is no error, in others it is', (database) =>
    at(database, async ({ journals, asker, id }) => {
      const words = { id, title: 'run 42', kind: 'test', meta: { env: 'ci' } }
      expect((await journals.create(asker, words)).head.seq).toBe(3)
      await expectCode(journals.create(asker, { ...words, title: 'x' }), 'journal_exists')
      await expectCode(journals.append(asker, 'none', [{ type: 'a' }]), 'journal_missing')
    }))

  test('what is too much or no entry is refused, and nothing of it is appended', (database) =>
    at(database, async ({ journals, asker, id }) => {
      const codes: string[] = []
      for (const entries of [
        [],
        Array.from({ length: 501 }, () => ({ type: 'a' })),
        [{ type: 'ok' }, { type: '' }],
        [{ type: 'a', stray: 1 }],
        [{ type: 'cairn.journal.sealed' }],
        [{ type: 'a', summary: 'x'.repeat(65_536) }],
        [{ type: 'a', subjects: Array.from({ length: 65 }, () => 's') }],
        [{ type: 'a', labels: { l: 'x'.repeat(4096) } }],
        [{ type: 'a', summary: '\ud800' }],
        ['text'],
      ])
        codes.push(await codeOf((async () => journals.append(asker, id, entries))()))
      expect(codes).toEqual([
        'invalid_argument',
        'too_large',
        'invalid_argument',
        'invalid_argument',
        'invalid_argument',
        'too_large',
        'too_large',
        'too_large',
        'invalid_argument',
        'invalid_argument',
      ])
      expect((await journals.get(asker.workspace, id)).head.seq).toBe(3)
    }))
}

function readCases(test: StoreTest<Database>): void {
  test('entries are found by what they say and by their journal, page by page', (database) =>
    at(database, async ({ journals, asker, id }) => {
      await journals.create(asker, { id: 'other', kind: 'deploy' })
      await journals.append(asker, 'other', [
        { type: 'step', actor: 'agent:a', labels: { k: 'v' } },
      ])
      const find = async (filter: object, limit = 10): Promise<string[]> => {
        const found: string[] = []
        let cursor: string | undefined
        do {
          const page = await findEntries(journals, asker.workspace, filter, cursor, limit)
          found.push(...page.items.map(({ journal, seq }) => `${journal} ${seq}`))
          cursor = page.next
        } while (cursor !== undefined)
        return found
      }
      expect(await find({})).toEqual(['run-42 1', 'run-42 2', 'run-42 3', 'other 1'])
      expect(await find({}, 1)).toEqual(await find({}))
      expect(await find({ type: 'step' })).toEqual(['run-42 2', 'other 1'])
      expect(await find({ kind: 'test', type: 'step' })).toEqual(['run-42 2'])
      expect(await find({ meta: 'env=ci', status: 'ok' })).toEqual(['run-42 3'])
      expect(await find({ subject: 'file:/ä' })).toEqual(['run-42 3'])
      expect(await find({ actor: 'agent:a' })).toEqual(['other 1'])
      expect(await find({ label: 'k=v' })).toEqual(['other 1'])
      expect(await find({ journal: id, until: '2001' })).toEqual([])
    }))

  test('who follows it hears every entry once, also of another server, until it is sealed', (database) =>
    at(database, async ({ journals, others, asker, id }) => {
      const ending = new AbortController()
      const heard = (async () => {
        const seqs: number[] = []
        for await (const { seq } of followJournal(journals, asker.workspace, id, 1, ending.signal))
          seqs.push(seq)
        return seqs
      })()
      await journals.append(asker, id, [{ type: 'here' }])
      await others.append(asker, id, [{ type: 'there' }])
      await others.seal(asker, id)
      expect(await heard).toEqual([2, 3, 4, 5, 6])
    }))
}

function tamperingCases(test: StoreTest<Database>): void {
  test('an export is as it was signed, and the public key is enough to see that', (database) =>
    at(database, async (place) => {
      const { journals, asker, id } = place
      const { publicKey, head } = await journals.get(asker.workspace, id)
      const verdict = { journal: id, entries: 3, head: head.hash, sealed: false, publicKey }
      const text = await exported(place)
      expect(await checkText(text, { publicKey })).toEqual(verdict)
      const receipt = {
        seq: 2,
        hash: (await journals.read(asker.workspace, id, 1, 1)).items[0]!.hash,
      }
      expect(await checkText(text, { publicKey, receipt })).toEqual(verdict)
      await expectCode(checkText(text, { receipt: { ...receipt, seq: 1 } }), 'chain_broken')
      await expectCode(checkText(text, { publicKey: '00'.repeat(32) }), 'chain_broken')
    }))

  test('a receipt shows that the tail was cut off, even with the head of before', (database) =>
    at(database, async (place) => {
      const { journals, asker, id } = place
      const before = await exported(place)
      const { first, hash } = await journals.append(asker, id, [{ type: 'regretted' }])
      const after = await exported(place)
      const lines = after.split('\n')
      const cut = [...lines.slice(0, -3), ...lines.slice(-2)].join('\n')
      await expectCode(checkText(cut), 'chain_broken')
      await checkText(before)
      await expectCode(checkText(before, { receipt: { seq: first, hash } }), 'chain_broken')
    }))

  test('a byte that was changed in what is stored is found, whichever it is', (database) =>
    at(database, async ({ journals, asker, id }) => {
      const { workspace } = asker
      const columns = [
        ['journals', ['header', 'created_at', 'head', 'signature'], 'id = ?'],
        ['journal_entries', ['time', 'entry'], 'seq = 2 AND journal = ?'],
        ['journal_keys', ['public_key'], '? IS NOT NULL'],
      ] as const
      for (const [table, names, where] of columns)
        for (const name of names) {
          const key = [Buffer.from(workspace), Buffer.from(id)]
          const filter = `workspace = ? AND ${where}`
          const [row] = await database.query(`SELECT ${name} FROM ${table} WHERE ${filter}`, key)
          const bytes = Buffer.from(row![name] as Uint8Array)
          const put = (value: SqlValue): Promise<void> =>
            database.transact([
              { sql: `UPDATE ${table} SET ${name} = ? WHERE ${filter}`, params: [value, ...key] },
            ])
          for (let at = 0; at < bytes.length; at += 7) {
            const changed = Buffer.from(bytes)
            changed[at]! ^= 1 << (at % 8)
            await put(changed)
            expect([name, at, await codeOf(journals.verify(workspace, id))]).toEqual([
              name,
              at,
              'chain_broken',
            ])
          }
          await put(bytes)
          await journals.verify(workspace, id)
        }
    }))

  test('an entry that was taken away or put elsewhere in what is stored is found', (database) =>
    at(database, async ({ journals, asker, id }) => {
      const key = [Buffer.from(asker.workspace), Buffer.from(id)]
      const where = 'WHERE workspace = ? AND journal = ?'
      const [last] = await database.query(`SELECT * FROM journal_entries ${where} AND seq = 3`, key)
      const run = (sql: string, params: readonly SqlValue[]): Promise<void> =>
        database.transact([{ sql, params, expect: 1 }])
      await run(`DELETE FROM journal_entries ${where} AND seq = 3`, key)
      await expectCode(journals.verify(asker.workspace, id), 'chain_broken')
      await run(`UPDATE journal_entries SET entry = ?, time = ? ${where} AND seq = 2`, [
        last!['entry']!,
        last!['time']!,
        ...key,
      ])
      await expectCode(journals.verify(asker.workspace, id), 'chain_broken')
    }))
}
