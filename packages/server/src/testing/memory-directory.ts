import { type BranchId, CairnError } from '@cairn/protocol'
import type { WorkspaceDirectory, WorkspaceRecord } from '../workspaces/workspaces.ts'

export class MemoryDirectory implements WorkspaceDirectory {
  readonly #records = new Map<string, WorkspaceRecord>()
  readonly #branches = new Map<string, BranchId>()
  readonly #nextInodes = new Map<string, number>()

  async create(
    record: WorkspaceRecord,
    branch: { name: string; id: BranchId },
    firstIno = 2,
  ): Promise<void> {
    if (await this.find(record.owner, record.name))
      throw new CairnError('workspace_exists', {
        message: `cannot make workspace '${record.name}': it is there`,
        subject: record.name,
      })
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

  async remove(owner: string, id: string): Promise<boolean> {
    return this.#records.get(id)?.owner === owner && this.#records.delete(id)
  }

  async findBranch(workspace: string, name: string): Promise<BranchId | undefined> {
    return this.#branches.get(`${workspace}/${name}`)
  }

  async takeInodes(workspace: string, count: number): Promise<number> {
    const first = this.#nextInodes.get(workspace) ?? 2
    this.#nextInodes.set(workspace, first + count)
    return first
  }

  #ofOwner(owner: string): WorkspaceRecord[] {
    return [...this.#records.values()].filter((record) => record.owner === owner)
  }
}
