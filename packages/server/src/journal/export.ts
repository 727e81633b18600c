import {
  CairnError,
  type JournalEntry,
  type JournalHead,
  type JournalHeader,
} from '@cairn/protocol'
import type { JournalTable, StoredEntry, StoredJournal } from '../storage/journal-table.ts'

const rowsAtOnce = 500

/**
 * A journal from its header to its signed head, byte for byte as it is stored, in lines. Rejects
 * with `chain_broken` where the columns beside an entry differ from the entry: they are not in the
 * export, so a reader of it would not notice.
 */
export async function* exportJournal(
  table: JournalTable,
  journal: StoredJournal,
): AsyncGenerator<string> {
  const { workspace, id, lastSeq, createdAt, signature } = journal
  const header = JSON.parse(journal.header) as JournalHeader
  const head = JSON.parse(journal.head) as JournalHead
  if (header.journal !== id || header.createdAt !== createdAt || head.seq !== lastSeq)
    throw strangeJournal(id, 'its row says something else than its header and head')
  yield `{"header":${journal.header}}\n`
  for (let seq = 0; seq < lastSeq;) {
    const rows = await table.read(workspace, id, seq, Math.min(rowsAtOnce, lastSeq - seq))
    for (const row of rows) yield `{"entry":${checkRow(row)}}\n`
    if (rows.length === 0) break
    seq = rows.at(-1)!.seq
  }
  yield `{"head":${journal.head},"signature":${JSON.stringify(signature)}}\n`
}

function checkRow({ journal, seq, time, entry }: StoredEntry): string {
  const said = JSON.parse(entry) as JournalEntry
  if (said.seq === seq && said.time === time) return entry
  throw strangeJournal(journal, `the row of entry ${seq} says something else than the entry`)
}

export function strangeJournal(journal: string, why: string, cause?: unknown): CairnError {
  return new CairnError('chain_broken', {
    what: `believe the journal ${journal}`,
    reason: why,
    subject: journal,
    cause,
  })
}
