import {
  type Author,
  Branch,
  createBranch,
  type Op,
  type Snapshot,
  type Stores,
  totalsOf,
} from '@cairn/core'
import { type ActorId, type BranchId, type Errno, isFsError, type SessionId } from '@cairn/protocol'
import { expect } from 'vitest'
import type { Model } from './model.ts'
import { countTotals } from './totals.ts'
import type { Around, World } from './world.ts'

/** A branch, and one who writes to it. */
export class TestBranch {
  readonly #world: World
  readonly #openStores: () => Stores
  readonly #session: SessionId
  #number = 0
  #stores: Stores
  #branch: Branch

  private constructor(world: World, openStores: () => Stores, stores: Stores, branch: Branch) {
    this.#world = world
    this.#openStores = openStores
    this.#session = world.newSession()
    this.#stores = stores
    this.#branch = branch
  }

  /** Makes it with an empty tree. */
  static async create(world: World, name: string, around?: Around): Promise<TestBranch> {
    await createBranch(world.openStores(), name as BranchId)
    return TestBranch.open(world, name, around)
  }

  static async open(world: World, name: string, around?: Around): Promise<TestBranch> {
    const openStores = (): Stores => world.openStores(around)
    const stores = openStores()
    return new TestBranch(world, openStores, stores, await Branch.open(stores, name as BranchId))
  }

  get branch(): Branch {
    return this.#branch
  }

  get stores(): Stores {
    return this.#stores
  }

  nextAuthor(): Author {
    const number = ++this.#number
    const time = { sec: number, nsec: 0 }
    return { session: this.#session, number, actor: 'tester' as ActorId, time }
  }

  async submit(ops: readonly Op[]): Promise<Errno | undefined> {
    const { epoch } = this.#branch.head.position
    try {
      await this.#branch.submit({ ...this.nextAuthor(), epoch, ops })
      return undefined
    } catch (error) {
      if (isFsError(error)) return error.code
      throw error
    }
  }

  async fold(): Promise<Snapshot> {
    return (await this.#branch.fold()).snapshot
  }

  /** Folds, and looks whether statfs would count what the model does. */
  async foldAndCount(model: Model): Promise<Snapshot> {
    const snapshot = await this.fold()
    const { nodes } = this.#stores
    expect(await nodes.read(() => totalsOf(nodes, snapshot))).toEqual(countTotals(model))
    return snapshot
  }

  /** Forgets all that is only in memory. */
  async reopen(): Promise<void> {
    this.#stores = this.#openStores()
    this.#branch = await Branch.open(this.#stores, this.#branch.id)
  }

  async expectSame(model: Model): Promise<void> {
    await this.#world.expectSame(this.#stores, this.#branch.head.view, model)
  }
}
