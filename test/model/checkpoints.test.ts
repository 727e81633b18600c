import { type Checkpoint, makeCheckpoint, rollback, undoRollback } from '@cairn/core'
import { type CheckpointId, isCairnError } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import type { Model } from './model.ts'
import { itHolds } from './property.ts'
import { anyStep, type Step } from './step.ts'
import { TestBranch } from './test-branch.ts'
import { World } from './world.ts'

type Turn =
  | { readonly type: 'ops'; readonly step: Step }
  | { readonly type: 'rollback'; readonly checkpoint: number }
  | { readonly type: 'checkpoint' | 'undo' | 'fold' | 'reopen' }

const anyTurn: fc.Arbitrary<Turn> = fc.oneof(
  { weight: 12, arbitrary: fc.record({ type: fc.constant('ops'), step: anyStep }) },
  {
    weight: 2,
    arbitrary: fc.record({ type: fc.constant('rollback'), checkpoint: fc.nat({ max: 7 }) }),
  },
  {
    weight: 6,
    arbitrary: fc.record({ type: fc.constantFrom('checkpoint', 'undo', 'undo', 'fold', 'reopen') }),
  },
)

/** A branch and its checkpoints beside a model and its copies. */
class Traveller {
  readonly #core: TestBranch
  readonly #world: World
  readonly #model: Model
  readonly #saved: { readonly checkpoint: Checkpoint; readonly model: Model }[] = []
  /** What undoing would bring back. */
  #undone: Model | undefined

  constructor(world: World, core: TestBranch) {
    this.#world = world
    this.#core = core
    this.#model = world.newModel()
  }

  async take(turn: Turn): Promise<void> {
    switch (turn.type) {
      case 'ops':
        await this.#submit(turn.step)
        break
      case 'checkpoint':
        await this.#save()
        break
      case 'rollback':
        await this.#goBack(turn.checkpoint)
        break
      case 'undo':
        await this.#undo()
        break
      case 'fold':
        await this.#core.foldAndCount(this.#model)
        break
      case 'reopen':
        await this.#core.reopen()
    }
    await this.#core.expectSame(this.#model)
  }

  async #submit(step: Step): Promise<void> {
    const op = await this.#world.resolver.resolve(step, this.#model)
    const errno = this.#model.apply([op])
    expect(await this.#core.submit([op])).toBe(errno)
    if (errno === undefined) this.#undone = undefined
  }

  async #save(): Promise<void> {
    const id = `checkpoint ${this.#saved.length}` as CheckpointId
    const names = { id, label: '', time: { sec: 0, nsec: 0 } }
    const { branch, stores } = this.#core
    const checkpoint = await makeCheckpoint(stores, branch, names)
    expect(await stores.refs.getCheckpoint(branch.id, id)).toEqual(checkpoint)
    this.#saved.push({ checkpoint, model: this.#model.clone() })
  }

  async #goBack(drawn: number): Promise<void> {
    const saved = this.#saved[drawn % this.#saved.length]
    if (!saved) return
    const { branch, stores } = this.#core
    await rollback(stores, branch, this.#core.nextAuthor(), saved.checkpoint)
    this.#undone = this.#model.clone()
    this.#model.replaceBy(saved.model)
    expect(await this.#core.fold()).toEqual(saved.checkpoint.snapshot)
  }

  async #undo(): Promise<void> {
    const { stores, branch } = this.#core
    const undoing = undoRollback(stores, branch, this.#core.nextAuthor())
    if (!this.#undone) {
      const reason: unknown = await undoing.catch((error: unknown) => error)
      expect(isCairnError(reason, 'nothing_to_undo')).toBe(true)
      return
    }
    await undoing
    this.#model.replaceBy(this.#undone)
    this.#undone = undefined
  }
}

describe('checkpoints', () => {
  itHolds('rollback gives back what was there, undoing it gives back what came after', {
    name: 'checkpoints',
    runs: 30,
    values: fc.array(anyTurn, { maxLength: 80, size: 'max' }),
    async test(turns) {
      const world = new World()
      const core = await TestBranch.create(world, 'main')
      const traveller = new Traveller(world, core)
      for (const turn of turns) await traveller.take(turn)
      await world.expectNothingLost(core.branch.id)
    },
  })
})
