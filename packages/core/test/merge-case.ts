import { expect } from 'vitest'
import type { Choice, Resolution, Snapshot } from '../src/ports/records.ts'
import { storeNewTree } from '../src/history/new-tree.ts'
import type { Conflict, ConflictSide } from '../src/layers/conflict.ts'
import { merge, type MergeTreesOptions, type MergeResult } from '../src/layers/merge.ts'
import { checkTree } from '../src/testing/check-tree.ts'
import { readTree, type NodeEntry } from '../src/testing/read-tree.ts'
import { Supply, TreeEditor } from '../src/testing/tree-editor.ts'
import { MemoryStores } from './ports.ts'

type Edit = (tree: TreeEditor) => unknown

/** What happened before the layer was made, in the layer, and in its target since. */
export interface Histories {
  readonly base?: Edit
  readonly layer?: Edit
  readonly target?: Edit
}

/** A choice for every conflict, or for each by what `conflicts()` calls it: its kind and path. */
export type Choices = Choice['type'] | Readonly<Record<string, Choice['type']>>

/** A base and two sides, in one set of stores. */
export class MergeCase {
  readonly stores: MemoryStores
  readonly base: Snapshot
  readonly layer: Snapshot
  readonly target: Snapshot
  readonly #supply: Supply

  private constructor(
    stores: MemoryStores,
    supply: Supply,
    sides: Pick<MergeCase, 'base' | 'layer' | 'target'>,
  ) {
    this.stores = stores
    this.#supply = supply
    this.base = sides.base
    this.layer = sides.layer
    this.target = sides.target
  }

  static async make(histories: Histories, supply: Supply = new Supply()): Promise<MergeCase> {
    const stores = new MemoryStores()
    const edit = (from: Snapshot, change: Edit = () => {}): Promise<Snapshot> => {
      const editor = new TreeEditor(stores, from, supply)
      change(editor)
      return editor.fold()
    }
    const base = await edit(await storeNewTree(stores.nodes), histories.base)
    const layer = await edit(base, histories.layer)
    const target = await edit(base, histories.target)
    return new MergeCase(stores, supply, { base, layer, target })
  }

  /** The same after one side went on. */
  async goOn(side: 'layer' | 'target', change: Edit): Promise<MergeCase> {
    const editor = new TreeEditor(this.stores, this[side], this.#supply)
    change(editor)
    return new MergeCase(this.stores, this.#supply, {
      base: this.base,
      layer: this.layer,
      target: this.target,
      [side]: await editor.fold(),
    })
  }

  swapped(): MergeCase {
    const { base, layer, target } = this
    return new MergeCase(this.stores, this.#supply, { base, layer: target, target: layer })
  }

  merge(options: Pick<MergeTreesOptions, 'resolutions' | 'mergeText'> = {}): Promise<MergeResult> {
    const { base, layer, target } = this
    const { nodes, blobs } = this.stores
    return merge({ nodes, blobs, base, layer, target, ...options })
  }

  /** The undecided conflicts, as `kind path: base | layer | target`. */
  async conflicts(
    options: Pick<MergeTreesOptions, 'resolutions'> = {},
  ): Promise<readonly string[]> {
    return (await this.openConflicts(options)).map(
      ({ kind, path, base, layer, target }) =>
        `${kind} ${path.join('/')}: ${[base, layer, target].map(formatSide).join(' | ')}`,
    )
  }

  async openConflicts(
    options: Pick<MergeTreesOptions, 'resolutions'> = {},
  ): Promise<readonly Conflict[]> {
    const result = await this.merge(options)
    return result.type === 'conflicted' ? result.conflicts : []
  }

  /** The merged tree, by path. */
  async clean(
    options: Pick<MergeTreesOptions, 'resolutions' | 'mergeText'> = {},
  ): Promise<Listing> {
    const result = await this.merge(options)
    if (result.type === 'conflicted')
      throw new Error(
        `conflicts: ${result.conflicts.map(({ kind, path }) => `${kind} ${path.join('/')}`).join(', ')}`,
      )
    return this.list(result.snapshot)
  }

  /** The merged tree once every conflict is decided, where the answers bring up no further question. */
  async decided(choices: Choices, rounds = 1): Promise<Listing> {
    return this.clean({ resolutions: await this.resolutions(choices, rounds) })
  }

  async resolutions(choices: Choices, rounds = 1): Promise<readonly Resolution[]> {
    const resolutions: Resolution[] = []
    for (let round = 0; round < rounds; round++) {
      const open = await this.openConflicts({ resolutions })
      if (open.length === 0) break
      for (const { id, kind, path } of open) {
        const type = typeof choices === 'string' ? choices : choices[`${kind} ${path.join('/')}`]
        if (type) resolutions.push({ conflict: id, choice: choiceOf(type) })
      }
    }
    return resolutions
  }

  async list(snapshot: Snapshot): Promise<Listing> {
    expect(await checkTree(this.stores.nodes, snapshot)).toEqual([])
    const listing: Record<string, string> = {}
    for (const [path, entry] of await readTree(this.stores, snapshot)) {
      const text = formatEntry(entry)
      if (path !== '' || text !== 'directory') listing[path] = text
    }
    return listing
  }
}

export type Listing = Readonly<Record<string, string>>

/** The merged tree. Who is called layer and who target decides about numbers, not about what is where. */
export async function mergedTree(histories: Histories): Promise<Listing> {
  const there = await MergeCase.make(histories)
  const result = await there.clean()
  expect(await there.swapped().clean()).toEqual(result)
  return result
}

function choiceOf(type: Choice['type']): Choice {
  return type === 'bytes' ? { type, bytes: new TextEncoder().encode('decided') } : { type }
}

const marks = { directory: '/', symlink: '@' } as Readonly<Record<string, string>>

function formatSide(side: ConflictSide | undefined): string {
  return side ? side.path.join('/') + (marks[side.kind] ?? '') : '-'
}

const usualModes = { directory: 0o755, symlink: 0o777 } as Readonly<Record<string, number>>

/** A file as its text, all else as its kind; then whatever is not as usual. */
function formatEntry({ inode, bytes }: NodeEntry): string {
  const { kind, mode, uid, gid, rdev, nlink, target, xattrs } = inode
  const parts = [bytes ? formatBytes(bytes) : kind]
  if (target) parts.push(formatBytes(target))
  if (rdev) parts.push(`${rdev}`)
  if (mode !== (usualModes[kind] ?? 0o644)) parts.push(mode.toString(8))
  if (uid || gid) parts.push(`${uid}:${gid}`)
  if (kind !== 'directory' && nlink > 1) parts.push(`×${nlink}`)
  for (const [name, value] of xattrs ?? []) parts.push(`${name}=${formatBytes(value)}`)
  return parts.join(' ')
}

function formatBytes(bytes: Uint8Array): string {
  return bytes.length > 200 ? `${bytes.length} bytes` : new TextDecoder().decode(bytes)
}
