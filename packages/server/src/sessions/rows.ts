import { type Batch, decodeInSteps, decodeOutline } from '@cairn/core'
import type { SessionId } from '@cairn/protocol'
import { seenOfOps } from './seen-parts.ts'
import { maskBatch, type SessionScope } from '../access/session-scope.ts'
import type { ClientSocket } from './connection.ts'
import { type FedRow, fedRow } from '../leases/feed.ts'
import type { SessionParts } from './session.ts'
import { isLong, shortReply, writtenIn } from './short-rows.ts'

const rowsAtOnce = 256
/** A reader that does not keep up is waited for, not buffered for. */
const bufferedBytesMax = 8 << 20
const bufferLookMs = 20

/** The log, as a session is sent it. */
export class Rows {
  readonly #parts: SessionParts
  readonly #session: SessionId
  readonly #connection: ClientSocket
  /** The newest batch the other end has been sent. */
  sent: number
  #isOver = false

  constructor(parts: SessionParts, session: SessionId, connection: ClientSocket, sent: number) {
    this.#parts = parts
    this.#session = session
    this.#connection = connection
    this.sent = sent
  }

  /** Sends what the log has after what was sent. What is not in memory any more is read: a slow reader costs nothing. */
  async send(): Promise<void> {
    const { branch, workspace } = this.#parts
    while (this.sent < branch.head.position.seq && !this.#isOver) {
      if (this.#isFull) await this.#whenRead()
      for (const row of workspace.feed(branch).after(this.sent) ?? (await this.#read())) {
        const sent = this.#sendRow(row)
        if (sent) await sent
        this.sent = row.row.seq
      }
    }
  }

  async #read(): Promise<readonly FedRow[]> {
    const { branch, workspace } = this.#parts
    const rows = await workspace.stores.log.read(branch.id, this.sent, rowsAtOnce)
    return rows.map((row) => fedRow(row))
  }

  /** Has `forward` called when there is something to send. Gives what ends that. */
  follow(forward: () => Promise<void>, writes: boolean): () => void {
    const { branch, workspace } = this.#parts
    return workspace.feed(branch).subscribe({ sentSeq: () => this.sent, forward }, writes)
  }

  end(): void {
    this.#isOver = true
  }

  #sendRow(fed: FedRow): Promise<void> | undefined {
    const { scope } = this.#parts
    const { session, number, seq } = fed.row
    if (session === this.#session && hasOperations(fed))
      this.#connection.send({ type: 'own', number, seq })
    else if (!scope || scope.readsAll) return this.#sendAll(fed)
    else return this.#sendMasked(scope, fed)
    return undefined
  }

  #sendAll(fed: FedRow): Promise<void> | undefined {
    const { workspace, branch } = this.#parts
    if (isLong(fed) && workspace.lease(branch).sharing.isKnown(this.#session))
      return this.#sendWhatIsShown(fed)
    this.#connection.send(fed.reply)
    return undefined
  }

  /** With the bytes that were written, if the session may show one of the files. */
  async #sendWhatIsShown(fed: FedRow): Promise<void> {
    const { workspace, branch } = this.#parts
    const { nodes } = workspace.stores
    const directories = await writtenIn(fed, nodes, branch.head.view)
    const isShown = workspace.lease(branch).sharing.mayShow(undefined, directories)(this.#session)
    const reply = isShown ? fed.reply : await shortReply(fed, nodes, branch.head.view)
    this.#connection.send(reply)
  }

  async #sendMasked(scope: SessionScope, { batch, row }: FedRow): Promise<void> {
    const { nodes } = this.#parts.workspace.stores
    const whole = batch ?? (await nodes.run(decodeInSteps(row.bytes)))
    this.#connection.send({ type: 'batch', bytes: await this.#masked(scope, whole) })
  }

  async #masked(scope: SessionScope, batch: Batch): Promise<Uint8Array> {
    const { workspace, branch } = this.#parts
    const { body } = batch
    if (body.type !== 'ops') return maskBatch(batch, true)
    for await (const { inodes, names } of seenOfOps({ workspace, branch, scope }, body.ops))
      if (names.length > 0 || [...inodes].length > 0) return maskBatch(batch, true)
    return maskBatch(batch, false)
  }

  get #isFull(): boolean {
    return this.#connection.bufferedBytes > bufferedBytesMax
  }

  async #whenRead(): Promise<void> {
    const { clock } = this.#parts.workspace
    while (this.#isFull && !this.#isOver) await clock.sleep(bufferLookMs)
  }
}

/** A batch without operations is no submission: it only closes the log to lower numbers. */
function hasOperations({ batch, row }: FedRow): boolean {
  if (batch) return batch.body.type === 'ops' && batch.body.ops.length > 0
  const { body } = decodeOutline(row.bytes)
  return body.type === 'ops' && body.count > 0
}
