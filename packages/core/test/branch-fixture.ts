import {
  type ActorId,
  type BranchId,
  type Ino,
  type Name,
  rootIno,
  type SessionId,
} from '@cairn/protocol'
import type { CreateOp, Op } from '../src/filesystem/op.ts'
import { Branch } from '../src/history/branch.ts'
import type { Author, Receipt, Submission } from '../src/history/draft.ts'
import { createBranch } from '../src/layers/fork.ts'
import type { LogRow } from '../src/ports/log-store.ts'
import { Nodes } from '../src/tree/nodes.ts'
import { MemoryStores, sha256 } from './ports.ts'

export const main = 'main' as BranchId

/** A branch `main` with a few batches in its log, and its insides open. */
export class BranchFixture {
  readonly stores: MemoryStores = new MemoryStores()
  #number = 0
  #ino: number = rootIno
  #clock = 1000

  static async open(): Promise<BranchFixture & { branch: Branch }> {
    const fixture = new BranchFixture()
    await createBranch(fixture.stores, main)
    return Object.assign(fixture, { branch: await fixture.reopen() })
  }

  reopen(): Promise<Branch> {
    return Branch.open(this.stores, main)
  }

  /** As another process would see it: nothing in memory. */
  async openCold(): Promise<{ readonly nodes: Nodes; readonly branch: Branch }> {
    const { nodeStore, blobs, log, refs } = this.stores
    const nodes = new Nodes({ store: nodeStore, hash: sha256 })
    return { nodes, branch: await Branch.open({ nodes, blobs, log, refs }, main) }
  }

  /** The rows as the store has them, to be damaged. */
  get rows(): LogRow[] {
    return this.stores.log.logs.get(main)!
  }

  author(fields: Partial<Author> = {}): Author {
    const time = { sec: this.#clock++, nsec: 0 }
    const number = fields.number ?? ++this.#number
    return { session: 's' as SessionId, actor: 'tester' as ActorId, time, ...fields, number }
  }

  submission(ops: readonly Op[], fields: Partial<Submission> = {}): Submission {
    return { ...this.author(fields), epoch: fields.epoch ?? 1, ops }
  }

  create(name: string, parent: Ino = rootIno): CreateOp {
    return {
      type: 'create',
      time: { sec: this.#clock++, nsec: 0 },
      parent,
      name: name as Name,
      ino: ++this.#ino as Ino,
      kind: 'directory',
      mode: 0o755,
      uid: 0,
      gid: 0,
      rdev: 0,
      target: undefined,
    }
  }

  makeDirectory(branch: Branch, name: string): Promise<Receipt> {
    return branch.submit(this.submission([this.create(name)]))
  }
}
