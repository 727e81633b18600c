/** The shapes of journals in the HTTP API's JSON and in exports, once for server, SDK and command line. */

import type { Json } from './canonical-json.ts'

/** What a journal begins with. The first entry holds its hash, so it cannot be changed later. */
export interface JournalHeader {
  readonly journal: string
  /** The id of the workspace. */
  readonly workspace: string
  readonly title: string
  readonly kind: string
  readonly meta: Readonly<Record<string, string>>
  readonly createdAt: string
  /** The id of the key or token that began it. */
  readonly createdBy: string
  /** Ed25519, in hex: every head is signed with the other half. */
  readonly publicKey: string
}

/** What is told. Everything but the type may be left out. */
export interface NewJournalEntry {
  readonly type: string
  readonly summary?: Json
  readonly subjects?: readonly Json[]
  readonly labels?: Readonly<Record<string, string>>
  readonly status?: string
  /** Who did it, in the words of who tells it: `agent:alice`. */
  readonly actor?: string
  /** How it is known; `self_declared` unless given. */
  readonly source?: string
  /** When it happened, in the words of who tells it. */
  readonly occurredAt?: string
}

export interface JournalEntry extends NewJournalEntry {
  readonly journal: string
  readonly workspace: string
  /** From 1, without gaps. */
  readonly seq: number
  /** SHA-256 of the entry before it in canonical JSON, in hex; of the header for the first. */
  readonly previous: string
  /** When the server took it. */
  readonly time: string
  /** The id of the key or token that told it. */
  readonly by: string
  readonly toolCall?: string
}

/** An entry and its own hash. */
export type HashedEntry = JournalEntry & { readonly hash: string }

/** Where a journal stands: the hash of its newest entry, of its header while it has none. */
export interface JournalHead {
  readonly journal: string
  readonly workspace: string
  readonly seq: number
  readonly hash: string
  readonly time: string
  readonly sealed: boolean
}

export interface SignedHead {
  readonly head: JournalHead
  /** Ed25519 over `signedText(head)`, in hex. */
  readonly signature: string
}

export interface JournalInfo extends JournalHeader, SignedHead {}

/** What an append did. The same again gives the same numbers, and the head as it is now. */
export interface JournalReceipt extends SignedHead {
  readonly journal: string
  readonly first: number
  readonly last: number
  /** The hash of the last entry: keep it to prove later that the entry was there. */
  readonly hash: string
}

/** What a check found. */
export interface JournalVerdict {
  readonly journal: string
  readonly entries: number
  /** Hash of the newest entry. */
  readonly head: string
  readonly sealed: boolean
  readonly publicKey: string
}

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
