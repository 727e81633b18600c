import { randomBytes } from 'node:crypto'
import { CairnError, type RotationReport } from '@cairn/protocol'
import type { MasterKey, MasterKeys } from '../access/master-key.ts'
import type { WorkspaceKeyTable, WrappedKey } from '../storage/workspace-key-table.ts'
import { decrypt, encrypt, secretKeyBytes, wiping } from './encrypt.ts'

const rowsAtOnce = 256

/**
 * The key of each workspace, wrapped by the master key. Changing the master key wraps these few
 * bytes again and nothing else; and a concurrent reader finds either wrapping, each with the id of
 * the master key it needs.
 */
export class WorkspaceKeys {
  readonly #table: WorkspaceKeyTable
  readonly #master: MasterKeys
  #rotated: Promise<unknown> = Promise.resolve()

  constructor(table: WorkspaceKeyTable, master: MasterKeys) {
    this.#table = table
    this.#master = master
  }

  /** Lends the key to `work`; makes it when there is none. */
  async use<T>(workspace: string, work: (key: Uint8Array) => T | Promise<T>): Promise<T> {
    const wrapped = (await this.#table.find(workspace)) ?? (await this.#create(workspace))
    return wiping(await this.#unwrap(wrapped), work)
  }

  /** A key that belongs to no workspace: 32 bytes for a purpose. */
  derive(purpose: string): Uint8Array {
    return this.#master.derive(purpose)
  }

  /** Takes the next master key into use and wraps every key with it, beside all readers. One after another. */
  rotate(): Promise<RotationReport> {
    const rotated = this.#rotated.then(() => this.#rotate())
    this.#rotated = rotated.catch(() => undefined)
    return rotated
  }

  async #rotate(): Promise<RotationReport> {
    const master = await this.#master.renew()
    let [rewrapped, left, after] = [0, 0, '']
    for (;;) {
      const rows = await this.#table.listOthers(master.id, after, rowsAtOnce)
      for (const row of rows) {
        after = row.workspace
        const key = await this.#unwrap(row).catch(() => undefined)
        if (!key) left++
        else if (await wiping(key, () => this.#table.rewrap(row, wrap(master, row.workspace, key))))
          rewrapped++
      }
      if (rows.length === 0) return { masterKey: master.id, rewrapped, left }
    }
  }

  async #create(workspace: string): Promise<WrappedKey> {
    const made = await wiping(randomBytes(secretKeyBytes), (key) =>
      wrap(this.#master, workspace, key),
    )
    if (await this.#table.create(made)) return made
    // Another request was first.
    return (await this.#table.find(workspace))!
  }

  async #unwrap({ workspace, masterId, wrapped }: WrappedKey): Promise<Uint8Array> {
    const master = await this.#master.find(masterId)
    if (!master)
      throw new CairnError('storage_misconfigured', {
        what: 'open the vault',
        reason: `its workspace's key is wrapped by the master key ${masterId}, which is not known here. Put that key into the list of master keys, behind the newest`,
        subject: masterId,
      })
    return wiping(wrappingKey(master), (key) =>
      decrypt(key, wrapped, ['workspace key', workspace, masterId]),
    )
  }
}

function wrap(master: MasterKey, workspace: string, key: Uint8Array): WrappedKey {
  const { id: masterId } = master
  const wrapping = wrappingKey(master)
  const wrapped = encrypt(wrapping, key, ['workspace key', workspace, masterId])
  wrapping.fill(0)
  return { workspace, masterId, wrapped }
}

function wrappingKey(master: MasterKey): Uint8Array {
  return master.derive('workspace keys')
}
