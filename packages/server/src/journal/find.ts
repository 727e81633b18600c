import {
  CairnError,
  canonicalJson,
  type HashedEntry,
  type JournalInfo,
  type Page,
} from '@cairn/protocol'
import type { StoredEntry } from '../storage/journal-table.ts'
import { hashedEntry, type JournalKeeper } from './journal-keeper.ts'

export interface EntryFilter {
  readonly journal?: string
  readonly type?: string
  /** The journal's kind. */
  readonly kind?: string
  /** `key=value`, of the journal. */
  readonly meta?: string
  readonly actor?: string
  readonly status?: string
  readonly subject?: string
  /** `key=value` */
  readonly label?: string
  /** ISO 8601: then or later, and earlier than the other. */
  readonly since?: string
  readonly until?: string
}

/** One request looks at no more entries than this: then the page ends, empty perhaps, and says where to go on. */
const rowsMax = 10_000
const rowsAtOnce = 500

/** Entries of all journals of a workspace, in the order of time. */
export async function findEntries(
  journals: JournalKeeper,
  workspace: string,
  filter: EntryFilter,
  cursor: string | undefined,
  limit: number,
): Promise<Page<HashedEntry>> {
  const about = new Map<string, Promise<JournalInfo>>()
  const isWanted = async (entry: HashedEntry): Promise<boolean> => {
    if (!matchesEntry(filter, entry)) return false
    if (filter.kind === undefined && filter.meta === undefined) return true
    const known = about.get(entry.journal) ?? journals.get(workspace, entry.journal)
    about.set(entry.journal, known)
    return matchesJournal(filter, await known)
  }
  const items: HashedEntry[] = []
  let place = cursor === undefined ? startOf(filter) : parseCursor(cursor)
  for (let seen = 0; seen < rowsMax;) {
    const rows = await journals.table.scan(workspace, place, rowsAtOnce)
    for (const row of rows) {
      if (filter.until !== undefined && row.time >= filter.until) return { items }
      place = row
      seen++
      const entry = hashedEntry(row)
      if (await isWanted(entry)) items.push(entry)
      if (items.length === limit) return { items, next: cursorOf(row) }
    }
    if (rows.length < rowsAtOnce) return { items }
  }
  return { items, next: cursorOf(place) }
}

type EntryPlace = Pick<StoredEntry, 'time' | 'journal' | 'seq'>

/** Before everything of that time: no journal has an empty id. */
function startOf({ since = '' }: EntryFilter): EntryPlace {
  return { time: since, journal: '', seq: 0 }
}

function cursorOf({ time, journal, seq }: EntryPlace): string {
  return `${time}/${journal}/${seq}`
}

function parseCursor(cursor: string): EntryPlace {
  const [, time, journal, seq] = /^([^/]+)\/([^/]+)\/(\d{1,15})$/.exec(cursor) ?? []
  if (time !== undefined && journal !== undefined) return { time, journal, seq: Number(seq) }
  throw new CairnError('invalid_argument', {
    what: `go on after cursor '${cursor}'`,
    reason: `it is none of this listing's`,
  })
}

function matchesEntry(filter: EntryFilter, entry: HashedEntry): boolean {
  const { journal, type, actor, status, subject, label } = filter
  const isSubject = (each: unknown): boolean =>
    each === subject || (typeof each === 'object' && canonicalJson(each as never) === subject)
  return (
    (journal === undefined || entry.journal === journal) &&
    (type === undefined || entry.type === type) &&
    (actor === undefined || entry.actor === actor || entry.by === actor) &&
    (status === undefined || entry.status === status) &&
    (subject === undefined || (entry.subjects ?? []).some(isSubject)) &&
    (label === undefined || hasPair(entry.labels ?? {}, label))
  )
}

function matchesJournal({ kind, meta }: EntryFilter, journal: JournalInfo): boolean {
  return (
    (kind === undefined || journal.kind === kind) &&
    (meta === undefined || hasPair(journal.meta, meta))
  )
}

function hasPair(pairs: Readonly<Record<string, string>>, text: string): boolean {
  return Object.entries(pairs).some(([key, value]) => `${key}=${value}` === text)
}
