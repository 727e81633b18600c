import {
  Branch,
  commitLayer,
  createBranch,
  forkBranch,
  LayerConflictError,
  type LayerOptions,
  rebaseLayer,
  resolveConflict,
  type Snapshot,
  type Stores,
} from '@cairn/core'
import { checkTree, Supply, TreeEditor } from '@cairn/core/testing'
import { type ActorId, type BranchId, type SessionId } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { MemoryDisk } from '@cairn/server/testing'
import { type PlainTree, readPlain } from './plain-tree.ts'
import { checkProperty } from './property.ts'
import {
  movingScenarios,
  type Scenario,
  type Step,
  stillScenarios,
  tangledScenarios,
  tryStep,
} from './scenario.ts'

/** A scenario played on real branches, through their logs. */
class Site {
  readonly stores: Stores = new MemoryDisk().open()
  #supply = new Supply()
  #number = 0

  async play(scenario: Scenario): Promise<{ target: Branch; layer: Branch }> {
    const [main, attempt] = ['main', 'attempt'] as [BranchId, BranchId]
    this.#supply = new Supply(scenario.frozen ? 0 : 1)
    await createBranch(this.stores, main)
    const target = await Branch.open(this.stores, main)
    await this.#edit(target, scenario.base)
    await forkBranch(this.stores, attempt, (await target.fold()).snapshot, main)
    const layer = await Branch.open(this.stores, attempt)
    await this.#edit(layer, [...scenario.both, ...scenario.layer])
    await this.#edit(target, [...scenario.both, ...scenario.target])
    return { target, layer }
  }

  options(layer: Branch, target: Branch): LayerOptions {
    const author = { actor: 'tester' as ActorId, time: this.#supply.now() }
    return { layer, target, author }
  }

  async read(snapshot: Snapshot): Promise<PlainTree> {
    expect(await checkTree(this.stores.nodes, snapshot)).toEqual([])
    return readPlain({ stores: this.stores }, snapshot)
  }

  async #edit(branch: Branch, steps: readonly Step[]): Promise<void> {
    const editor = new TreeEditor(this.stores, (await branch.fold()).snapshot, this.#supply)
    for (const step of steps) tryStep(editor, step)
    const session = 'tester' as SessionId
    const author = { session, number: ++this.#number, ...this.options(branch, branch).author }
    const { epoch } = branch.head.position
    if (editor.ops.length > 0) await branch.submit({ ...author, epoch, ops: editor.ops })
  }
}

/** Decides every conflict for the layer; gives how often it had to be asked. */
async function commitDecided(site: Site, layer: Branch, target: Branch): Promise<number> {
  for (let asked = 0; ; asked++) {
    const before = await target.fold()
    try {
      await commitLayer(site.stores, site.options(layer, target))
      return asked
    } catch (error) {
      if (!(error instanceof LayerConflictError) || asked > 40) throw error
      expect(await target.fold()).toEqual(before)
      expect(layer.head.position.state).toBe('conflicted')
      for (const { id } of error.found)
        await resolveConflict(site.stores, layer.id, { conflict: id, choice: { type: 'layer' } })
    }
  }
}

const anyScenarios = fc.oneof(stillScenarios, movingScenarios, tangledScenarios)

describe('commit laws', () => {
  it('in conflict the target is untouched, tree and log; decided, it is one batch', async () => {
    await checkProperty('commit', 60, anyScenarios, async (scenario) => {
      const site = new Site()
      const { layer, target } = await site.play(scenario)
      const { seq } = target.head.position
      await commitDecided(site, layer, target)
      expect(target.head.position.seq).toBe(seq + 1)
      const receipt = await commitLayer(site.stores, site.options(layer, target))
      expect(receipt).toMatchObject({ seq: seq + 1, after: (await target.fold()).snapshot })
      await site.read(receipt.after)
      const again = await Branch.open(site.stores, target.id)
      expect((await again.fold()).snapshot).toEqual(receipt.after)
    })
  })

  it('rebased first, a commit comes to the same', async () => {
    await checkProperty('rebase', 60, anyScenarios, async (scenario) => {
      const [direct, rebased] = [new Site(), new Site()]
      const one = await direct.play(scenario)
      const other = await rebased.play(scenario)
      if ((await commitDecided(direct, one.layer, one.target)) > 0) return
      await rebaseLayer(rebased.stores, rebased.options(other.layer, other.target))
      await commitLayer(rebased.stores, rebased.options(other.layer, other.target))
      expect(await rebased.read((await other.target.fold()).snapshot)).toEqual(
        await direct.read((await one.target.fold()).snapshot),
      )
    })
  })
})
