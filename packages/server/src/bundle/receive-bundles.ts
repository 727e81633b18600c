import {
  type Batch,
  type Blobs,
  decodeInSteps,
  hashRowInSteps,
  type LogRow,
  type Nodes,
  type SealedBlob,
  type Snapshot,
  type Steps,
  TreeReach,
} from '@cairn/core'
import { type BranchId, formatHash, type Hash, JournalCheck, Reader } from '@cairn/protocol'
import { JsonShape } from '../files/json-shape.ts'
import { journalCrypto } from '../journal/signing-keys.ts'
import { sha256 } from '../ports/content-worker.ts'
import { BundleReader } from './chain.ts'
import { type BundleHead, decodeHead, snapshotsOf } from './head.ts'
import { type BundleRecord, decodeRow, malformed } from './records.ts'
import { splitBlob } from './write-bundle.ts'

/** Where what is in a bundle goes. */
export interface BundleTarget {
  /** Known once it has begun. */
  readonly nodes: () => Nodes
  /** Only to check blobs. */
  readonly blobs: () => Pick<Blobs, 'check'>
  /** Refuses by throwing, before anything of the bundle is taken. */
  readonly begin: (head: BundleHead) => Promise<void>
  readonly putRows: (branch: BranchId, rows: readonly LogRow[]) => Promise<void>
  readonly putBlobs: (blobs: readonly SealedBlob[]) => Promise<void>
  /** In lines, as `cairn journal export` writes it. Without it journals are checked, and kept nowhere. */
  readonly putJournal?: (id: string, lines: readonly string[]) => Promise<void>
}

export interface BundleContents {
  /** How the workspace is: the head of the last bundle. */
  readonly head: BundleHead
  /** The id of the last bundle. */
  readonly id: string
  readonly bundles: number
  readonly rows: number
  readonly nodes: number
  readonly blobs: number
  readonly journals: number
  readonly bytes: number
}

const groupBytesMax = 1 << 20
const groupCountMax = 256

/**
 * Takes in a bundle and those that go on from it, in one stream. Everything is checked before it is used: each record, each
 * log along its chain, each node and blob against its hash; and in the end that nothing is missing.
 */
export async function receiveBundles(
  body: AsyncIterable<Uint8Array>,
  target: BundleTarget,
): Promise<BundleContents> {
  const reader = new BundleReader(countedBody(body, (bytes) => (receiver.bytes += bytes)))
  const receiver = new Receiver(target)
  if (!(await reader.begin())) throw malformed('it is empty')
  do await receiver.take(reader)
  while (await reader.begin())
  return receiver.end(reader.hash)
}

async function* countedBody(
  body: AsyncIterable<Uint8Array>,
  onBytes: (bytes: number) => void,
): AsyncGenerator<Uint8Array> {
  for await (const chunk of body) {
    onBytes(chunk.length)
    yield chunk
  }
}

class Receiver {
  bytes = 0
  readonly #target: BundleTarget
  /** Those of the head: a row of any other one could be another workspace's. */
  #branches: ReadonlySet<BranchId> = new Set()
  readonly #last = new Map<BranchId, { seq: number; hash: Hash }>()
  readonly #blobs = new Set<Hash>()
  #head: BundleHead | undefined
  #id: string | undefined
  /** What each branch was before it was last put on another tree. */
  readonly #leftByRollbacks = new Map<BranchId, Snapshot>()
  #counts = { bundles: 0, rows: 0, nodes: 0, blobs: 0, journals: 0 }
  /** The one that is being read. */
  #journal: JournalCheck | undefined
  /** Its lines, where they are wanted. */
  #lines: string[] = []
  #rows: { branch: BranchId; rows: LogRow[]; bytes: number } | undefined
  #nodeGroup = new Map<Hash, Uint8Array>()
  #blobGroup: SealedBlob[] = []
  #groupBytes = 0

  constructor(target: BundleTarget) {
    this.#target = target
  }

  async take(reader: BundleReader): Promise<void> {
    const head = await this.#begin(await reader.next())
    for (;;) {
      const record = await reader.next()
      if (record.type === 'end') break
      await this.#put(record)
    }
    await this.#flush()
    if (this.#journal) throw malformed('a journal has no end')
    for (const { id, folded } of head.branches) {
      const last = this.#last.get(id)
      if (folded.seq > 0 && (last?.seq !== folded.seq || last.hash !== folded.hash))
        throw malformed(`the log of ${id} does not end where its head says`)
    }
    this.#head = head
    this.#id = reader.hash
    this.#counts.bundles++
  }

  async end(id: string): Promise<BundleContents> {
    const head = this.#head!
    const reach = new TreeReach(this.#target.nodes())
    const all = [...snapshotsOf(head), ...this.#leftByRollbacks.values()]
    for (const snapshot of all) await reach.addSnapshot(snapshot)
    for (const blob of reach.blobs)
      if (!this.#blobs.has(blob)) throw malformed(`it lacks the blob ${formatHash(blob)}`)
    return { head, id, ...this.#counts, bytes: this.bytes }
  }

  async #begin(record: BundleRecord): Promise<BundleHead> {
    if (record.type !== 'head') throw malformed('it does not begin with its head')
    const head = await decodeHead(record.payload)
    if (head.since !== this.#id) throw malformed(whyNoSuccessor(head, this.#id))
    if (this.#id === undefined) await this.#target.begin(head)
    else if (head.workspace.id !== this.#head!.workspace.id)
      throw malformed('it goes on with another workspace')
    this.#branches = new Set(head.branches.map(({ id }) => id))
    return head
  }

  async #put({ type, payload }: BundleRecord): Promise<void> {
    if (type === 'row') await this.#putRow(payload)
    else if (type === 'node') this.#nodeGroup.set(sha256(payload), payload)
    else if (type === 'blob') await this.#putBlob(payload)
    else if (type === 'journal') await this.#putLine(payload)
    else throw malformed('it has two heads')
    if (type === 'node') this.#counts.nodes++
    this.#groupBytes += payload.length
    const count = this.#nodeGroup.size + this.#blobGroup.length
    if (this.#groupBytes > groupBytesMax || count > groupCountMax) await this.#flush()
  }

  async #putRow(payload: Uint8Array): Promise<void> {
    const { branch, row } = decodeRow(new Reader(payload, 'bundle'))
    if (!this.#branches.has(branch)) throw malformed(`its head has no branch ${branch}`)
    const last = this.#last.get(branch)
    const { body } = await this.#target.nodes().run(requireNext(branch, row, last))
    if (body.type === 'root') this.#leftByRollbacks.set(branch, body.change.before)
    this.#last.set(branch, row)
    this.#counts.rows++
    if (this.#rows?.branch !== branch) await this.#flush()
    this.#rows ??= { branch, rows: [], bytes: 0 }
    this.#rows.rows.push(row)
  }

  async #putBlob(payload: Uint8Array): Promise<void> {
    const blob = splitBlob(payload)
    await this.#target.blobs().check(blob)
    this.#blobs.add(blob.id)
    this.#blobGroup.push(blob)
    this.#counts.blobs++
  }

  /** A journal ends with its head. */
  async #putLine(payload: Uint8Array): Promise<void> {
    new JsonShape().add(payload)
    const line = Buffer.from(payload).toString()
    this.#journal ??= new JournalCheck(journalCrypto)
    await this.#journal.take(line.replace(/\n$/, ''))
    if (this.#target.putJournal) this.#lines.push(line)
    if (!line.startsWith('{"head":')) return
    const { journal } = await this.#journal.end()
    if (!/^\w[\w.-]*$/.test(journal)) throw malformed(`a journal has the name '${journal}'`)
    this.#counts.journals++
    await this.#target.putJournal?.(journal, this.#lines)
    this.#journal = undefined
    this.#lines = []
  }

  async #flush(): Promise<void> {
    const [rows, nodes, blobs] = [this.#rows, this.#nodeGroup, this.#blobGroup]
    this.#rows = undefined
    this.#nodeGroup = new Map()
    this.#blobGroup = []
    this.#groupBytes = 0
    if (rows) await this.#target.putRows(rows.branch, rows.rows)
    await this.#target.nodes().store(nodes)
    await this.#target.putBlobs(blobs)
  }
}

function whyNoSuccessor({ since }: BundleHead, before: string | undefined): string {
  if (since === undefined) return 'a whole bundle follows another one'
  return before === undefined
    ? `it goes on from the bundle ${since}, which must come before it`
    : `it goes on from the bundle ${since} and not from ${before}`
}

/** The log's own chain: it was not put together from parts, and nothing of it is left out. */
function* requireNext(
  branch: BranchId,
  { seq, hash, session, number, bytes }: LogRow,
  last: { readonly seq: number; readonly hash: Hash } | undefined,
): Steps<Batch> {
  const batch = yield* decodeInSteps(bytes)
  const isNext =
    (yield* hashRowInSteps(bytes, sha256)) === hash &&
    batch.branch === branch &&
    batch.seq === seq &&
    batch.session === session &&
    batch.number === number &&
    seq === (last?.seq ?? 0) + 1 &&
    (last === undefined || batch.previous === last.hash)
  if (isNext) return batch
  throw malformed(`batch ${seq} of ${branch} does not follow the one before`)
}
