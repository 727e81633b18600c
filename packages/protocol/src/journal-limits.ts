/** The type of the entry that ends a journal. */
export const sealType = 'cairn.journal.sealed'

export const journalLimits = {
  entriesPerAppend: 500,
  appendBytes: 4_194_304,
  summaryBytes: 65_536,
  subjects: 64,
  subjectBytes: 8192,
  labels: 64,
  labelBytes: 4096,
} as const
