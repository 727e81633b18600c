import { randomUUID } from 'node:crypto'
import {
  CairnError,
  canonicalJson,
  checkJournal,
  type HashedEntry,
  isCairnError,
  type JournalEntry,
  type JournalHead,
  type JournalHeader,
  type JournalInfo,
  journalLimits,
  type JournalReceipt,
  type JournalVerdict,
  type Json,
  type NewJournalEntry,
  type Page,
  sealType,
  signedText,
  type SignedHead,
} from '@cairn/protocol'
import type {
  JournalRequest,
  JournalTable,
  StoredEntry,
  StoredJournal,
} from '../storage/journal-table.ts'
import { type Clock, isoTime } from '../ports/clock.ts'
import { exportJournal, strangeJournal } from './export.ts'
import { Listeners } from './listeners.ts'
import { parseEntry } from './parse-entry.ts'
import { journalCrypto, type SigningKeys } from './signing-keys.ts'

/** Who tells something, in which workspace. */
export interface JournalAsker {
  readonly workspace: string
  readonly actor: string
  readonly toolCall?: string | undefined
  readonly idempotencyKey?: string | undefined
}

export interface JournalWish {
  readonly id?: string
  readonly title?: string
  readonly kind?: string
  readonly meta?: Readonly<Record<string, string>>
}

export interface JournalsParts {
  readonly table: JournalTable
  readonly keys: SigningKeys
  readonly clock: Clock
}

const attemptsMax = 50

/** What agents and workflows tell: entries that follow from one another under a signed head, and are never changed. */
export class JournalKeeper {
  readonly table: JournalTable
  /** Hear of appends on this server. */
  readonly listeners: Listeners = new Listeners()
  readonly #keys: SigningKeys
  readonly #clock: Clock
  /** The last append of each journal: those behind it wait, because only one of them can win anyway. */
  readonly #queues = new Map<string, Promise<unknown>>()

  constructor({ table, keys, clock }: JournalsParts) {
    this.table = table
    this.#keys = keys
    this.#clock = clock
  }

  /** One that is there already is given when it was begun in the same words. */
  async create(asker: JournalAsker, wish: JournalWish): Promise<JournalInfo> {
    const { workspace, actor } = asker
    const { id = `journal_${randomUUID()}`, title = '', kind = '', meta = {} } = wish
    const header: JournalHeader = {
      journal: id,
      workspace,
      title,
      kind,
      meta,
      createdAt: isoTime(this.#clock.now()),
      createdBy: actor,
      publicKey: await this.#keys.publicKey(workspace),
    }
    const text = canonicalJson(header as unknown as Json)
    const head = { journal: id, workspace, seq: 0, hash: hashOf(text), sealed: false }
    const signed = await this.#sign({ ...head, time: header.createdAt })
    const stored = {
      workspace,
      id,
      header: text,
      createdAt: header.createdAt,
      lastSeq: 0,
      ...signed,
    }
    if (await this.table.create(stored)) return infoOf(stored)
    const known = infoOf(await this.#find(workspace, id))
    const isSame =
      canonicalJson([known.title, known.kind, known.meta]) === canonicalJson([title, kind, meta])
    if (isSame) return known
    throw new CairnError('journal_exists', {
      what: `begin the journal ${id}`,
      reason: 'a journal with this id has another title, kind or meta',
      subject: id,
    })
  }

  async get(workspace: string, id: string): Promise<JournalInfo> {
    return infoOf(await this.#find(workspace, id))
  }

  async list(workspace: string, after: string, limit: number): Promise<Page<JournalInfo>> {
    const journals = await this.table.list(workspace, after, limit + 1)
    const items = journals.slice(0, limit).map(infoOf)
    return journals.length > limit ? { items, next: items.at(-1)!.journal } : { items }
  }

  /** All of them, once, in this order and with nothing in between. */
  append(asker: JournalAsker, id: string, values: readonly unknown[]): Promise<JournalReceipt> {
    requireSize(values)
    const entries = values.map((value, index) => parseEntry(value, `entries[${index}]`))
    return this.#append(asker, id, entries)
  }

  /** Ends a journal: nothing may follow. Ending it again is no error. */
  async seal(asker: JournalAsker, id: string, reason?: string): Promise<JournalReceipt> {
    const { head } = await this.get(asker.workspace, id)
    if (head.sealed) return this.#receipt(asker.workspace, id, head.seq, head.seq)
    const summary = reason === undefined ? {} : { summary: { reason } }
    return this.#append(asker, id, [{ type: sealType, ...summary }])
  }

  async read(
    workspace: string,
    id: string,
    after: number,
    limit: number,
  ): Promise<Page<HashedEntry>> {
    await this.#find(workspace, id)
    const rows = await this.table.read(workspace, id, after, limit + 1)
    const items = rows.slice(0, limit).map(hashedEntry)
    return rows.length > limit ? { items, next: String(items.at(-1)!.seq) } : { items }
  }

  /** Reads all of it, along the chain, as an auditor with an export would. */
  async verify(workspace: string, id: string): Promise<JournalVerdict> {
    try {
      const publicKey = await this.#keys.publicKey(workspace)
      const lines = linesOf(this.export(workspace, id))
      return await checkJournal(lines, journalCrypto, { publicKey })
    } catch (error) {
      if (isCairnError(error)) throw error
      throw strangeJournal(id, 'what is stored of it cannot be read', error)
    }
  }

  /** Lines with their ends; the first says at once whether there is one. */
  async *export(workspace: string, id: string): AsyncGenerator<string> {
    yield* exportJournal(this.table, await this.#find(workspace, id))
  }

  #append(
    asker: JournalAsker,
    id: string,
    entries: readonly NewJournalEntry[],
  ): Promise<JournalReceipt> {
    const key = `${asker.workspace}/${id}`
    const before = this.#queues.get(key) ?? Promise.resolve()
    const turn = before.then(() => this.#appendInTurn(asker, id, entries))
    const settled = turn
      .catch(() => undefined)
      .finally(() => {
        if (this.#queues.get(key) === settled) this.#queues.delete(key)
      })
    this.#queues.set(key, settled)
    return turn
  }

  async #appendInTurn(
    asker: JournalAsker,
    id: string,
    entries: readonly NewJournalEntry[],
  ): Promise<JournalReceipt> {
    const { workspace, actor, idempotencyKey = randomUUID() } = asker
    const request = `${actor}:${idempotencyKey}`
    const requestHash = hashOf(canonicalJson(entries as unknown as Json))
    for (let attempt = 0; attempt < attemptsMax; attempt++) {
      const done = await this.table.findRequest(workspace, id, request)
      if (done) return this.#repeat(workspace, id, done, requestHash)
      const before = await this.#find(workspace, id)
      const head = JSON.parse(before.head) as JournalHead
      if (head.sealed) throw sealed(id)
      const made = this.#follow(asker, head, entries)
      const signed = await this.#sign(made.head)
      const [firstSeq, lastSeq] = [head.seq + 1, made.head.seq]
      const note: JournalRequest = { request, requestHash, firstSeq, lastSeq }
      if (!(await this.table.append(before, { ...signed, lastSeq }, made.rows, note))) continue
      this.listeners.ring(workspace, id)
      const { signature } = signed
      return {
        journal: id,
        first: firstSeq,
        last: lastSeq,
        hash: made.head.hash,
        head: made.head,
        signature,
      }
    }
    throw new CairnError('sequence_conflict', {
      what: `append to the journal ${id}`,
      reason: 'others append all the time',
      subject: id,
    })
  }

  #follow(
    { workspace, actor, toolCall }: JournalAsker,
    head: JournalHead,
    entries: readonly NewJournalEntry[],
  ): { rows: StoredEntry[]; head: JournalHead } {
    const { journal } = head
    // Never back: the order of times is the order of entries, whatever the clocks of the servers say.
    const now = isoTime(this.#clock.now())
    const time = now > head.time ? now : head.time
    let { seq, hash } = head
    const rows = entries.map((each): StoredEntry => {
      const entry: JournalEntry = {
        source: 'self_declared',
        ...each,
        journal,
        workspace,
        seq: ++seq,
        previous: hash,
        time,
        by: actor,
        ...(toolCall === undefined ? {} : { toolCall }),
      }
      const text = canonicalJson(entry as unknown as Json)
      hash = hashOf(text)
      return { journal, seq, time, entry: text }
    })
    const isSealed = entries.at(-1)?.type === sealType
    return { rows, head: { journal, workspace, seq, hash, time, sealed: isSealed } }
  }

  async #repeat(
    workspace: string,
    id: string,
    { requestHash, firstSeq, lastSeq }: JournalRequest,
    hash: string,
  ): Promise<JournalReceipt> {
    if (requestHash === hash) return this.#receipt(workspace, id, firstSeq, lastSeq)
    throw new CairnError('idempotency_mismatch', {
      what: `append to the journal ${id}`,
      reason: 'the Idempotency-Key was used for other entries',
      subject: id,
    })
  }

  async #receipt(
    workspace: string,
    id: string,
    first: number,
    last: number,
  ): Promise<JournalReceipt> {
    const { head, signature } = await this.get(workspace, id)
    const [entry] = await this.table.read(workspace, id, last - 1, 1)
    return { journal: id, first, last, hash: hashedEntry(entry!).hash, head, signature }
  }

  async #sign(head: JournalHead): Promise<{ head: string; signature: string }> {
    const signature = await this.#keys.sign(head.workspace, signedText(head))
    return { head: canonicalJson(head as unknown as Json), signature }
  }

  async #find(workspace: string, id: string): Promise<StoredJournal> {
    const journal = await this.table.find(workspace, id)
    if (journal) return journal
    throw new CairnError('journal_missing', {
      what: `find the journal ${id}`,
      reason: `there is no journal '${id}'`,
      subject: id,
    })
  }
}

export function hashedEntry({ entry }: StoredEntry): HashedEntry {
  return { ...(JSON.parse(entry) as JournalEntry), hash: hashOf(entry) }
}

function infoOf({ header, head, signature }: StoredJournal): JournalInfo {
  const signed: SignedHead = { head: JSON.parse(head) as JournalHead, signature }
  return { ...(JSON.parse(header) as JournalHeader), ...signed }
}

function hashOf(text: string): string {
  return journalCrypto.sha256(text) as string
}

async function* linesOf(texts: AsyncIterable<string>): AsyncGenerator<string> {
  for await (const text of texts) yield text.slice(0, -1)
}

function requireSize(values: readonly unknown[]): void {
  const { entriesPerAppend, appendBytes } = journalLimits
  const count = values.length
  if (count === 0)
    throw new CairnError('invalid_argument', {
      what: 'append to the journal',
      reason: 'there is no entry',
    })
  if (count > entriesPerAppend)
    throw new CairnError('too_large', {
      what: `append ${count} entries`,
      reason: `want up to ${entriesPerAppend} at a time`,
    })
  if (Buffer.byteLength(JSON.stringify(values)) > appendBytes)
    throw new CairnError('too_large', {
      what: 'append to the journal',
      reason: `the entries have more than ${appendBytes} bytes`,
    })
}

function sealed(id: string): CairnError {
  return new CairnError('journal_sealed', {
    what: `append to the journal ${id}`,
    reason: 'the journal is sealed',
    subject: id,
  })
}
