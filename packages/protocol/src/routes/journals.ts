import type { Json } from '../canonical-json.ts'
import {
  anything,
  boolean,
  integer,
  list,
  merge,
  named,
  object,
  type Of,
  optional,
  record,
  text,
} from '../schema/build.ts'
import { actor, limit, name, page, time, timeQuery, workspaceParams } from '../schema/common.ts'
import { media, routes } from '../schema/route.ts'

const journal = name('deploys')
const workspace = text({ examples: ['ws_1f0c'] })
/** A hash, a key or a signature. */
const hex = text({ examples: ['9f86d081884c7d65'] })
const entrySeq = integer({ examples: [3] })
const words = text({ minLength: 1, maxLength: 1024, examples: ['deploy'] })
const title = text({ maxLength: 1024, examples: ['What was deployed'] })
const kind = text({ maxLength: 128, examples: ['deployment'] })
const meta = record(words, { maxProperties: 64, examples: [{ team: 'web' }] })
const json = anything<Json>({ examples: ['deployed 1.2.3'] })

/** What a journal begins with. The first entry holds its hash, so it cannot be changed later. */
export type JournalHeader = Of<typeof JournalHeader>
export const JournalHeader = named(
  'JournalHeader',
  object({
    journal,
    /** The id of the workspace. */
    workspace,
    title,
    kind,
    meta,
    createdAt: time(),
    /** The id of the key or token that began it. */
    createdBy: actor(),
    /** Ed25519, in hex: every head is signed with the other half. */
    publicKey: hex,
  }),
)

/** What a client tells. Everything but the type may be left out. */
export type NewJournalEntry = Of<typeof NewJournalEntry>
export const NewJournalEntry = named(
  'NewJournalEntry',
  object({
    type: text({ examples: ['deploy.done'] }),
    summary: optional(json),
    subjects: optional(list(json)),
    labels: optional(record(text({ examples: ['prod'] }))),
    status: optional(text({ examples: ['ok'] })),
    /** Who did it, in the words of the client that tells it: `agent:alice`. */
    actor: optional(text({ examples: ['agent:alice'] })),
    /** How it is known; `self_declared` unless given. */
    source: optional(text({ examples: ['self_declared'] })),
    /** When it happened, in the words of the client that tells it. */
    occurredAt: optional(text({ examples: ['2026-11-02T10:00:00.000Z'] })),
  }),
)

export type JournalEntry = Of<typeof JournalEntry>
const JournalEntry = object({
  ...NewJournalEntry.fields,
  journal,
  workspace,
  /** From 1, without gaps. */
  seq: entrySeq,
  /** SHA-256 of the entry before it in canonical JSON, in hex; of the header for the first. */
  previous: hex,
  /** When the server took it. */
  time: time(),
  /** The id of the key or token that told it. */
  by: actor(),
  toolCall: optional(text({ examples: ['call_17'] })),
})

/** An entry and its own hash. */
export type HashedEntry = Of<typeof HashedEntry>
export const HashedEntry = named('JournalEntry', object({ ...JournalEntry.fields, hash: hex }))

/** Where a journal stands: the hash of its newest entry, of its header while it has none. */
export type JournalHead = Of<typeof JournalHead>
export const JournalHead = named(
  'JournalHead',
  object({ journal, workspace, seq: entrySeq, hash: hex, time: time(), sealed: boolean() }),
)

export type SignedHead = Of<typeof SignedHead>
const SignedHead = object({
  head: JournalHead,
  /** Ed25519 over `signedText(head)`, in hex. */
  signature: hex,
})

export type JournalInfo = Of<typeof JournalInfo>
export const JournalInfo = named('JournalInfo', merge(JournalHeader, SignedHead))

/** What an append did. The same again gives the same numbers, and the head as it is now. */
export type JournalReceipt = Of<typeof JournalReceipt>
export const JournalReceipt = named(
  'JournalReceipt',
  object({
    ...SignedHead.fields,
    journal,
    first: entrySeq,
    last: entrySeq,
    /** The hash of the last entry: keep it to prove later that the entry was there. */
    hash: hex,
  }),
)

/** What a check found. */
export type JournalVerdict = Of<typeof JournalVerdict>
export const JournalVerdict = named(
  'JournalVerdict',
  object({
    journal,
    entries: integer({ examples: [3] }),
    /** Hash of the newest entry. */
    head: hex,
    sealed: boolean(),
    publicKey: hex,
  }),
)

const params = object({ ...workspaceParams.fields, journal })

export const journalRoutes = routes({
  'POST /v1/workspaces/:workspace/journals': {
    summary: 'Begin a journal',
    params: workspaceParams,
    body: object({
      id: optional(journal),
      title: optional(title),
      kind: optional(kind),
      meta: optional(meta),
    }),
    answers: { 201: JournalInfo },
  },
  'GET /v1/workspaces/:workspace/journals': {
    summary: 'List journals by id',
    params: workspaceParams,
    query: object({ cursor: optional(journal), limit: limit() }),
    answers: { 200: page(JournalInfo) },
  },
  'GET /v1/workspaces/:workspace/journals/:journal': {
    summary: 'A journal’s header and signed head',
    params,
    answers: { 200: JournalInfo },
  },
  'POST /v1/workspaces/:workspace/journals/:journal/entries': {
    summary: 'Append entries, all or none, once for each Idempotency-Key',
    params,
    // The journal checks each entry, and names the one that does not fit.
    body: object({ entries: list(anything({ examples: [{ type: 'deploy.done' }] })) }),
    answers: { 201: JournalReceipt },
  },
  'POST /v1/workspaces/:workspace/journals/:journal/seal': {
    summary: 'End a journal for good',
    params,
    body: object({ reason: optional(words) }),
    answers: { 200: JournalReceipt },
  },
  'GET /v1/workspaces/:workspace/journals/:journal/entries': {
    summary: 'Read entries, oldest first, after the number in cursor',
    params,
    query: object({ cursor: optional(integer()), limit: limit() }),
    answers: { 200: page(HashedEntry) },
  },
  'GET /v1/workspaces/:workspace/journals/:journal/events': {
    summary: 'Follow a journal as it grows (server-sent events)',
    params,
    query: object({ after: optional(integer()) }),
    answers: { 200: media('text/event-stream', HashedEntry) },
  },
  'GET /v1/workspaces/:workspace/journal-entries': {
    summary: 'Find entries of all journals, in the order of time',
    params: workspaceParams,
    query: object({
      journal: optional(words),
      type: optional(words),
      kind: optional(words),
      meta: optional(words),
      actor: optional(words),
      status: optional(words),
      subject: optional(words),
      label: optional(words),
      since: optional(timeQuery()),
      until: optional(timeQuery()),
      cursor: optional(words),
      limit: limit(),
    }),
    answers: { 200: page(HashedEntry) },
  },
  'GET /v1/workspaces/:workspace/journals/:journal/verify': {
    summary: 'Check a journal from its first entry to its head',
    params,
    answers: { 200: JournalVerdict },
  },
  'GET /v1/workspaces/:workspace/journals/:journal/export': {
    summary: 'All of a journal in lines of canonical JSON, to be checked anywhere',
    params,
    answers: { 200: media('application/x-ndjson') },
  },
})
