import { type BranchId, CairnError } from '@cairn/protocol'
import type {
  DeletedRecord,
  WorkspaceDirectory,
  WorkspaceRecord,
} from '../workspaces/workspace-keeper.ts'

export class MemoryDirectory implements WorkspaceDirectory {
  readonly #records = new Map<string, WorkspaceRecord>()
  readonly #deleted = new Map<string, DeletedRecord>()
  readonly #branches = new Map<string, BranchId>()
  readonly #nextInodes = new Map<string, number>()

  async create(
    record: WorkspaceRecord,
    branch: { name: string; id: BranchId },
    firstIno = 2,
  ): Promise<void> {
    await this.#requireFree(record.owner, record.name)
    this.#records.set(record.id, record)
    this.#nextInodes.set(record.id, firstIno)
    this.#branches.set(`${record.id}/${branch.name}`, branch.id)
  }

  async find(owner: string, nameOrId: string): Promise<WorkspaceRecord | undefined> {
    return this.#ofOwner(owner).find(({ id, name }) => id === nameOrId || name === nameOrId)
  }

  async list(
    owner: string,
    after: string | undefined,
    limit: number,
  ): Promise<readonly WorkspaceRecord[]> {
    return this.#ofOwner(owner)
      .filter(({ name }) => after === undefined || name > after)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
      .slice(0, limit)
  }

  async rename(owner: string, id: string, name: string): Promise<boolean> {
    const record = this.#records.get(id)
    if (record?.owner !== owner) return false
    if (record.name !== name) await this.#requireFree(owner, name)
    this.#records.set(id, { ...record, name })
    return true
  }

  async remove(owner: string, id: string, deletedAt: string): Promise<boolean> {
    const record = this.#records.get(id)
    if (record?.owner !== owner) return false
    this.#deleted.set(id, { ...record, deletedAt })
    return this.#records.delete(id)
  }

  async restore(owner: string, id: string, name: string, after: string): Promise<boolean> {
    const found = await this.findDeleted(owner, id, after)
    if (!found) return false
    await this.#requireFree(owner, name)
    const { deletedAt: _, ...record } = found
    this.#records.set(id, { ...record, name })
    return this.#deleted.delete(id)
  }

  async findDeleted(
    owner: string,
    nameOrId: string,
    after: string,
  ): Promise<DeletedRecord | undefined> {
    const all = this.#deletedOf(owner, after)
    return (
      all.find(({ id }) => id === nameOrId) ??
      all
        .filter(({ name }) => name === nameOrId)
        .sort((a, b) => (a.deletedAt < b.deletedAt ? 1 : -1))[0]
    )
  }

  async listDeleted(
    owner: string,
    after: string,
    afterId: string | undefined,
    limit: number,
  ): Promise<readonly DeletedRecord[]> {
    return this.#deletedOf(owner, after)
      .filter(({ id }) => afterId === undefined || id > afterId)
      .sort((a, b) => (a.id < b.id ? -1 : 1))
      .slice(0, limit)
  }

  async listPool(owner: string, pool: string): Promise<readonly string[]> {
    const own = this.#ofOwner(owner).filter((record) => record.pool === pool)
    return own.map(({ name }) => name).sort()
  }

  async hasOther(owner: string, id: string): Promise<boolean> {
    const all = [...this.#records.values(), ...this.#deleted.values()]
    return all.some((record) => (record.id === id || record.pool === id) && record.owner !== owner)
  }

  async findBranch(workspace: string, name: string): Promise<BranchId | undefined> {
    return this.#branches.get(`${workspace}/${name}`)
  }

  async takeInodes(workspace: string, count: number): Promise<number> {
    const first = this.#nextInodes.get(workspace) ?? 2
    this.#nextInodes.set(workspace, first + count)
    return first
  }

  async #requireFree(owner: string, name: string): Promise<void> {
    if (await this.find(owner, name))
      throw new CairnError('workspace_exists', {
        what: `use the name '${name}'`,
        reason: 'it is taken',
        subject: name,
      })
  }

  #deletedOf(owner: string, after: string): DeletedRecord[] {
    const all = [...this.#deleted.values()]
    return all.filter((record) => record.owner === owner && record.deletedAt > after)
  }

  #ofOwner(owner: string): WorkspaceRecord[] {
    return [...this.#records.values()].filter((record) => record.owner === owner)
  }
}
