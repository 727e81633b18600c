import {
  CairnError,
  canonicalJson,
  type Json,
  journalLimits,
  type NewJournalEntry,
} from '@cairn/protocol'

const known = [
  'type',
  'summary',
  'subjects',
  'labels',
  'status',
  'actor',
  'source',
  'occurredAt',
] as const
const textMax = 256

/**
 * Parses an entry that a client wants to append. Refuses unknown fields: dropping them would
 * falsify the record.
 */
export function parseEntry(value: unknown, where: string): NewJournalEntry {
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    throw refuse(where, 'want a JSON object')
  const entry = value as Readonly<Record<string, Json>>
  const stray = Object.keys(entry).find((key) => !known.some((name) => name === key))
  if (stray !== undefined)
    throw refuse(where, `${stray} is not known; put it into summary or labels`)
  const { type, summary, subjects, labels } = entry
  for (const name of ['type', 'status', 'actor', 'source', 'occurredAt'] as const)
    requireText(where, name, entry[name])
  if (typeof type !== 'string') throw refuse(where, 'type is missing')
  if (type.startsWith('cairn.')) throw refuse(where, 'types that begin with cairn. are Cairn’s own')
  requireSpelling(where, entry)
  if (summary !== undefined) requireSize(where, 'summary', summary, journalLimits.summaryBytes)
  if (subjects !== undefined) requireSubjects(where, subjects)
  if (labels !== undefined) requireLabels(where, labels)
  return entry as unknown as NewJournalEntry
}

function requireText(where: string, name: string, value: Json | undefined): void {
  if (value === undefined) return
  if (typeof value === 'string' && value !== '' && value.length <= textMax) return
  throw refuse(where, `${name} must be text of 1 to ${textMax} characters`)
}

/** Numbers beyond all bounds and halves of surrogate pairs could not be spelled again. */
function requireSpelling(where: string, entry: Readonly<Record<string, Json>>): void {
  try {
    canonicalJson(entry)
  } catch (cause) {
    throw refuse(where, (cause as Error).message)
  }
}

function requireSubjects(where: string, subjects: Json): void {
  if (!Array.isArray(subjects)) throw refuse(where, 'subjects must be a list')
  const { subjects: most, subjectBytes } = journalLimits
  if (subjects.length > most) throw tooLarge(where, `more than ${most} subjects`)
  for (const subject of subjects as Json[]) requireSize(where, 'a subject', subject, subjectBytes)
}

function requireLabels(where: string, labels: Json): void {
  if (typeof labels !== 'object' || labels === null || Array.isArray(labels))
    throw refuse(where, 'labels must be an object')
  const pairs = Object.entries(labels)
  const { labels: most, labelBytes } = journalLimits
  if (pairs.length > most) throw tooLarge(where, `more than ${most} labels`)
  for (const [key, value] of pairs) {
    if (typeof value !== 'string') throw refuse(where, `the label ${key} must be text`)
    requireSize(where, `the label ${key}`, { [key]: value }, labelBytes)
  }
}

function requireSize(where: string, what: string, value: Json, bytesMax: number): void {
  const bytes = Buffer.byteLength(canonicalJson(value))
  if (bytes > bytesMax) throw tooLarge(where, `${what} has more than ${bytesMax} bytes`)
}

function refuse(where: string, why: string): CairnError {
  return new CairnError('invalid_argument', { what: `take ${where}`, reason: why, subject: where })
}

function tooLarge(where: string, why: string): CairnError {
  return new CairnError('too_large', { what: `take ${where}`, reason: why, subject: where })
}
