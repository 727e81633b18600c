import type { ActorId, BranchId, SessionId } from '@cairn/protocol'
import { Branch } from '../src/history/branch.ts'
import type { Author } from '../src/history/draft.ts'
import type { CommitOutcome, LayerOptions } from '../src/layers/commit.ts'
import type { LayerConflictError } from '../src/layers/conflict-error.ts'
import { createBranch, forkBranch } from '../src/layers/fork.ts'
import { diffPaths } from '../src/layers/path-changes.ts'
import { readTree } from '../src/testing/read-tree.ts'
import { Supply, TreeEditor } from '../src/testing/tree-editor.ts'
import { MemoryStores } from './ports.ts'

/** A workspace with branches that are written to through their logs. */
export class LayerBench {
  readonly stores: MemoryStores = new MemoryStores()
  readonly #supply = new Supply()
  #number = 0

  async main(edit?: (tree: TreeEditor) => unknown): Promise<Branch> {
    const id = 'main' as BranchId
    await createBranch(this.stores, id)
    const main = await Branch.open(this.stores, id)
    if (edit) await this.edit(main, edit)
    return main
  }

  async layer(of: Branch, name: string, edit?: (tree: TreeEditor) => unknown): Promise<Branch> {
    const id = name as BranchId
    await forkBranch(this.stores, id, (await of.fold()).snapshot, of.id)
    const layer = await Branch.open(this.stores, id)
    if (edit) await this.edit(layer, edit)
    return layer
  }

  /** As another process sees it. */
  reopen({ id }: Branch): Promise<Branch> {
    return Branch.open(this.stores, id)
  }

  async edit(branch: Branch, edit: (tree: TreeEditor) => unknown): Promise<void> {
    const editor = new TreeEditor(this.stores, (await branch.head.fold()).snapshot, this.#supply)
    edit(editor)
    const { epoch } = branch.head.position
    await branch.submit({ ...this.author(), epoch, ops: editor.ops })
  }

  author(): Author {
    const session = 'tester' as SessionId
    const actor = 'tester' as ActorId
    return { session, number: ++this.#number, actor, time: this.#supply.now() }
  }

  options(layer: Branch, target: Branch): LayerOptions {
    const { actor, time } = this.author()
    return { layer, target, author: { actor, time } }
  }

  /** What a commit changed, as `modified a/b`. */
  async changed({ before, after }: CommitOutcome): Promise<readonly string[]> {
    const changes = await diffPaths(this.stores.nodes, before, after)
    return changes.map(({ kind, path }) => `${kind} ${path.join('/')}`)
  }

  /** Files by path, with their text; everything else with its kind. */
  async list(branch: Branch): Promise<Readonly<Record<string, string>>> {
    const { snapshot } = await branch.head.fold()
    const listing: Record<string, string> = {}
    for (const [path, { inode, bytes }] of await readTree(this.stores, snapshot))
      if (path !== '') listing[path] = bytes ? new TextDecoder().decode(bytes) : inode.kind
    return listing
  }
}

/** The error a promise is rejected with. */
export async function failureOf<E extends Error = LayerConflictError>(
  promise: Promise<unknown>,
): Promise<E> {
  try {
    await promise
  } catch (error) {
    return error as E
  }
  throw new Error('it should have been refused')
}
