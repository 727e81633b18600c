import { decodeBatch, type LogRow } from '@cairn/core'
import type { SessionId } from '@cairn/protocol'
import { maskBatch, type SessionScope, touchedBy } from '../access/session-scope.ts'
import type { Connection } from './connection.ts'
import type { SessionParts } from './session.ts'

const rowsAtOnce = 256
/** A reader that does not keep up is waited for, not buffered for. */
const bufferedBytesMax = 8 << 20
const bufferLookMs = 20
/** A batch without operations is smaller than this. */
const emptyBatchBytesMax = 4096

/** The log, as a session is sent it. */
export class Rows {
  readonly #parts: SessionParts
  readonly #session: SessionId
  readonly #connection: Connection
  /** The newest batch the other end has been sent. */
  sent: number
  #isOver = false

  constructor(parts: SessionParts, session: SessionId, connection: Connection, sent: number) {
    this.#parts = parts
    this.#session = session
    this.#connection = connection
    this.sent = sent
  }

  /** Sends what the log has after what was sent. From the log and not from memory: a slow reader costs nothing. */
  async send(): Promise<void> {
    const { branch, workspace } = this.#parts
    while (this.sent < branch.head.position.seq && !this.#isOver) {
      await this.#whenRead()
      const rows = await workspace.stores.log.read(branch.id, this.sent, rowsAtOnce)
      for (const row of rows) {
        await this.#sendRow(row)
        this.sent = row.seq
      }
    }
  }

  end(): void {
    this.#isOver = true
  }

  async #sendRow(row: LogRow): Promise<void> {
    const { scope } = this.#parts
    const { number, seq, bytes } = row
    if (row.session === this.#session && hasOperations(row))
      this.#connection.send({ type: 'own', number, seq })
    else if (!scope || scope.readsAll) this.#connection.send({ type: 'batch', bytes })
    else this.#connection.send({ type: 'batch', bytes: await this.#masked(scope, row) })
  }

  async #masked(scope: SessionScope, { bytes }: LogRow): Promise<Uint8Array> {
    const { workspace, branch } = this.#parts
    const batch = decodeBatch(bytes)
    const { body } = batch
    if (body.type !== 'ops') return maskBatch(batch, true)
    const { inodes, names } = await workspace.read(branch, (view) =>
      scope.touched(view, touchedBy(view, body.ops)),
    )
    return maskBatch(batch, names.length > 0 || [...inodes].length > 0)
  }

  async #whenRead(): Promise<void> {
    const { clock } = this.#parts.workspace
    while (this.#connection.bufferedBytes > bufferedBytesMax && !this.#isOver)
      await clock.sleep(bufferLookMs)
  }
}

/** A batch without operations is no submission: it only closes the log to lower numbers. */
function hasOperations({ bytes }: LogRow): boolean {
  if (bytes.length > emptyBatchBytesMax) return true
  const { body } = decodeBatch(bytes)
  return body.type === 'ops' && body.ops.length > 0
}
