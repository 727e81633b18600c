import type {
  JournalEntry,
  JournalHead,
  JournalHeader,
  JournalVerdict,
  SignedHead,
} from './routes/journals.ts'
import { sealType } from './journal-limits.ts'
import { type Json, canonicalJson } from './canonical-json.ts'
import { CairnError } from './errors.ts'

/** The two functions that runtimes have in different places. */
export interface JournalCrypto {
  /** In hex. */
  sha256(text: string): Promise<string> | string
  /** Ed25519; key and signature in hex. False also for what is neither. */
  verify(publicKey: string, text: string, signature: string): Promise<boolean> | boolean
}

/** What the reader knows from elsewhere. */
export interface JournalWitness {
  /**
   * In hex. Without it the export's own key is trusted, and an attacker who rewrote everything may
   * have signed it again.
   */
  readonly publicKey?: string | undefined
  /** The hash of an entry that was there once, from a receipt. */
  readonly receipt?: { readonly seq: number; readonly hash: string } | undefined
}

/** What a head's signature is over. */
export function signedText(head: JournalHead): string {
  return `cairn journal head\n${canonicalJson(head as unknown as Json)}`
}

/**
 * Checks an export from its first byte to its last: a header, entries that follow from one another, a signed head.
 * Lines must be spelled canonically, so that no byte can be changed without notice. Rejects with `chain_broken`.
 */
export async function checkJournal(
  lines: AsyncIterable<string>,
  crypto: JournalCrypto,
  witness: JournalWitness = {},
): Promise<JournalVerdict> {
  const check = new JournalCheck(crypto, witness)
  for await (const line of lines) await check.take(line)
  return check.end()
}

/** The same, where lines come one by one. */
export class JournalCheck {
  readonly #crypto: JournalCrypto
  readonly #witness: JournalWitness
  #header: JournalHeader | undefined
  #line = 0
  #seq = 0
  #hash = ''
  #time = ''
  #sealed = false
  #signed: SignedHead | undefined
  #hasReceipt = false

  constructor(crypto: JournalCrypto, witness: JournalWitness = {}) {
    this.#crypto = crypto
    this.#witness = witness
  }

  async take(line: string): Promise<void> {
    this.#line++
    if (this.#signed) throw this.#broken('something follows the head')
    const part = this.#parse(line)
    if (!this.#header) return this.#takeHeader(part)
    if ('entry' in part) return this.#takeEntry(this.#object<JournalEntry>(part, 'entry'))
    const { head, signature } = this.#only(part, 'head', 'signature')
    if (!isObject(head) || !isHex(signature)) throw this.#broken('want a head and a signature')
    this.#signed = { head: head as unknown as JournalHead, signature: signature as string }
  }

  async end(): Promise<JournalVerdict> {
    const [header, signed] = [this.#header, this.#signed]
    if (!header || !signed) throw this.#broken('it ends before its head: the tail is missing')
    const { head, signature } = signed
    const { journal, workspace, publicKey } = header
    const expected = {
      journal,
      workspace,
      seq: this.#seq,
      hash: this.#hash,
      time: this.#time,
      sealed: this.#sealed,
    }
    if (canonicalJson(head as unknown as Json) !== canonicalJson(expected))
      throw this.#broken(`the head tells of entry ${head.seq}, and entry ${this.#seq} is the last`)
    if (!(await this.#crypto.verify(publicKey, signedText(head), signature)))
      throw this.#broken('the head was not signed with the key of this journal')
    const { receipt } = this.#witness
    if (receipt && !this.#hasReceipt)
      throw this.#broken(`it has no entry ${receipt.seq} with the hash of the receipt`)
    return { journal, entries: this.#seq, head: this.#hash, sealed: this.#sealed, publicKey }
  }

  async #takeHeader(part: Readonly<Record<string, Json>>): Promise<void> {
    const header = this.#object<JournalHeader>(part, 'header')
    const { publicKey } = this.#witness
    if (publicKey !== undefined && header.publicKey !== publicKey)
      throw this.#broken(`it is signed with another key than ${publicKey}`)
    this.#header = header
    this.#time = header.createdAt
    await this.#advance(header)
  }

  async #takeEntry(entry: JournalEntry): Promise<void> {
    const { journal, workspace } = this.#header!
    if (this.#sealed) throw this.#broken('an entry follows the seal')
    if (entry.journal !== journal || entry.workspace !== workspace)
      throw this.#broken('the entry is of another journal')
    if (entry.seq !== this.#seq + 1)
      throw this.#broken(`entry ${entry.seq} stands where ${this.#seq + 1} belongs`)
    if (entry.previous !== this.#hash)
      throw this.#broken(`entry ${entry.seq} does not follow from what is before it`)
    this.#seq = entry.seq
    this.#time = entry.time
    this.#sealed = entry.type === sealType
    await this.#advance(entry)
  }

  async #advance(what: JournalHeader | JournalEntry): Promise<void> {
    this.#hash = await this.#crypto.sha256(canonicalJson(what as unknown as Json))
    const { receipt } = this.#witness
    if (receipt && receipt.seq === this.#seq && receipt.hash === this.#hash) this.#hasReceipt = true
  }

  #parse(line: string): Readonly<Record<string, Json>> {
    const value = parseJson(line)
    if (isObject(value) && canonicalJson(value) === line) return value
    throw this.#broken('it is not spelled as it was written')
  }

  #only(part: Readonly<Record<string, Json>>, ...keys: string[]): Readonly<Record<string, Json>> {
    if (Object.keys(part).join() === keys.join()) return part
    throw this.#broken(`want ${keys.join(' and ')}`)
  }

  #object<T>(part: Readonly<Record<string, Json>>, key: string): T {
    const value = this.#only(part, key)[key]
    if (isObject(value)) return value as T
    throw this.#broken(`its ${key} is none`)
  }

  #broken(why: string): CairnError {
    const journal = this.#header?.journal ?? 'the journal'
    return new CairnError('chain_broken', {
      what: `believe ${journal}`,
      reason: `line ${this.#line}: ${why}`,
      subject: `line ${this.#line}`,
    })
  }
}

function isObject(value: Json | undefined): value is Readonly<Record<string, Json>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value)
}

function parseJson(line: string): Json | undefined {
  try {
    return JSON.parse(line) as Json
  } catch {
    return undefined
  }
}

/** In its one spelling: capitals would be another byte for the same signature. */
function isHex(text: unknown): boolean {
  return typeof text === 'string' && /^(?:[0-9a-f]{2})+$/.test(text)
}

/** The lines of an export. What stands after the last end of a line is given as well, and fits nowhere. */
export async function* journalLines(chunks: AsyncIterable<Uint8Array>): AsyncGenerator<string> {
  const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })
  let rest: Uint8Array = new Uint8Array()
  for await (const chunk of chunks) {
    const bytes = join(rest, chunk)
    let start = 0
    for (let end = bytes.indexOf(10); end >= 0; end = bytes.indexOf(10, start)) {
      yield decode(decoder, bytes.subarray(start, end))
      start = end + 1
    }
    rest = bytes.slice(start)
  }
  if (rest.length > 0) yield `${decode(decoder, rest)} without an end`
}

function decode(decoder: InstanceType<typeof TextDecoder>, bytes: Uint8Array): string {
  try {
    return decoder.decode(bytes)
  } catch {
    // No JSON either, so the line is found wanting.
    return 'not UTF-8'
  }
}

function join(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length)
  both.set(a)
  both.set(b, a.length)
  return both
}
