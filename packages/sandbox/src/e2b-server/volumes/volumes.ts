import { randomBytes } from 'node:crypto'
import { type Cairn, isCairnError, type Workspace } from '@cairn/sdk'
import { ApiError, notFound } from '../api-error.ts'
import { isEqual } from '../envd/signature.ts'
import type { RecordStore } from '../store.ts'

export interface Volume {
  readonly volumeID: string
  readonly name: string
  /** Opens its content, and nothing else. */
  readonly token: string
}

/**
 * E2B's volumes, each a workspace of the same name. Only those that were made here are listed and can be destroyed
 * here; a sandbox can mount any workspace by its name.
 */
export class Volumes {
  readonly #cairn: Cairn | undefined
  readonly #store: RecordStore<Volume>
  readonly #all: Map<string, Volume>

  constructor(cairn: Cairn | undefined, store: RecordStore<Volume>, kept: readonly Volume[]) {
    this.#cairn = cairn
    this.#store = store
    this.#all = new Map(kept.map((volume) => [volume.volumeID, volume]))
  }

  list(): Volume[] {
    return [...this.#all.values()]
  }

  get(id: string): Volume {
    const found = this.#all.get(id)
    if (found === undefined) throw notFound(`volume '${id}'`)
    return found
  }

  /** Whether a sandbox could mount it. */
  async has(name: string): Promise<boolean> {
    try {
      await this.#server().workspaces.get(name)
      return true
    } catch (error) {
      if (isCairnError(error) && error.code === 'workspace_missing') return false
      throw error
    }
  }

  async create(name: string): Promise<Volume> {
    if (!/^[A-Za-z0-9_-]+$/.test(name))
      throw new ApiError(400, `'${name}' is not a name for a volume: letters, digits, - and _ only`)
    try {
      await this.#server().workspaces.create(name)
    } catch (error) {
      if (isCairnError(error) && error.code === 'workspace_exists')
        throw new ApiError(409, `there is a workspace ${name} already`)
      throw error
    }
    const token = randomBytes(32).toString('hex')
    const volume = { volumeID: randomBytes(10).toString('hex'), name, token }
    this.#all.set(volume.volumeID, volume)
    await this.#store.put(volume.volumeID, volume)
    return volume
  }

  async destroy(id: string): Promise<void> {
    const { name } = this.get(id)
    await this.#server().workspaces.delete(name)
    this.#all.delete(id)
    await this.#store.delete(id)
  }

  /** The workspace behind a volume, for those who have its token. */
  open(id: string, token: string): Workspace {
    const volume = this.get(id)
    if (!isEqual(token, volume.token)) throw new ApiError(401, 'the token of the volume is wrong')
    return this.#server().workspace(volume.name)
  }

  #server(): Cairn {
    if (this.#cairn !== undefined) return this.#cairn
    throw new ApiError(
      403,
      'volumes are kept in Cairn workspaces, and no Cairn server is known: start one with `cairn serve`, ' +
        'then start this one again',
    )
  }
}
