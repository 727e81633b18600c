import { type Files, mergeFiles } from '../races/model.ts'
import { type BranchName, type LayerName, layerNames } from './history.ts'
import { Tree } from './tree.ts'

interface Layer {
  readonly base: Files
  readonly isClosed: boolean
  /** Grows with each change: what a commit took is closed only if nothing came since. */
  readonly moved: number
}

/** `ok`, or why not; of what was read, what it was. */
export type Outcome = string

/** Everything that clients can ask for, as a plain model has it. */
export class State {
  readonly #trees: Map<BranchName, Tree>
  readonly #layers: Map<LayerName, Layer>
  /** Who has which file of main open. */
  readonly #held: Map<string, number>

  private constructor(
    trees: Map<BranchName, Tree>,
    layers: Map<LayerName, Layer>,
    held: Map<string, number>,
  ) {
    this.#trees = trees
    this.#layers = layers
    this.#held = held
  }

  static first(): State {
    const state = new State(new Map([['main', new Tree()]]), new Map(), new Map())
    for (const name of layerNames) state.makeLayer(name)
    return state
  }

  copy(): State {
    const trees = [...this.#trees].map(([name, tree]) => [name, tree.copy()] as const)
    return new State(new Map(trees), new Map(this.#layers), new Map(this.#held))
  }

  tree(branch: BranchName): Tree {
    return this.#trees.get(branch)!
  }

  isClosed(branch: BranchName): boolean {
    return branch !== 'main' && this.#layers.get(branch)!.isClosed
  }

  /** To be called after each change of a branch. */
  move(branch: BranchName): void {
    if (branch === 'main') return
    const layer = this.#layers.get(branch)!
    this.#layers.set(branch, { ...layer, moved: layer.moved + 1 })
  }

  /** To be called when nothing is under way. */
  settle(): this {
    for (const [name, layer] of this.#layers) this.#layers.set(name, { ...layer, moved: 0 })
    return this
  }

  makeLayer(name: LayerName): void {
    const tree = new Tree()
    const base = this.tree('main').files()
    tree.setFiles(base, true)
    this.#trees.set(name, tree)
    this.#layers.set(name, { base, isClosed: false, moved: 0 })
  }

  hold(client: string, ino: number): void {
    this.#held.set(client, ino)
  }

  letGo(client: string): void {
    this.#held.delete(client)
  }

  held(client: string): number | undefined {
    return this.#held.get(client)
  }

  /** Main has what the layer did. The layer is not closed yet; gives what must not have changed until then. */
  land(name: LayerName, asOthers: boolean): number | 'conflict' {
    const [tree, main] = [this.tree(name), this.tree('main')]
    const { base, moved } = this.#layers.get(name)!
    const files = tree.files()
    const { merged, conflicts } = mergeFiles({ base, files, decided: new Set() }, main.files())
    if (conflicts.length > 0) return 'conflict'
    main.setFiles(merged, asOthers)
    this.#layers.set(name, { base: files, isClosed: false, moved })
    return moved
  }

  close(name: LayerName, moved: number): void {
    const layer = this.#layers.get(name)!
    if (layer.moved === moved) this.#layers.set(name, { ...layer, isClosed: true })
  }

  rebase(name: LayerName, asOthers: boolean): Outcome {
    const tree = this.tree(name)
    const { base, moved } = this.#layers.get(name)!
    const theirs = this.tree('main').files()
    const { merged, conflicts } = mergeFiles(
      { base, files: tree.files(), decided: new Set() },
      theirs,
    )
    if (conflicts.length > 0) return 'conflict'
    tree.setFiles(merged, asOthers)
    this.#layers.set(name, { base: theirs, isClosed: false, moved: moved + 1 })
    return 'ok'
  }

  rollback(name: LayerName, asOthers: boolean): void {
    this.tree(name).setFiles(this.#layers.get(name)!.base, asOthers)
    this.move(name)
  }

  /** Equal for states that no client can tell apart. */
  describe(): string {
    const held = [...this.#held].sort(([a], [b]) => (a < b ? -1 : 1))
    const inos = held.map(([, ino]) => ino)
    const parts = [this.tree('main').describe(inos), held.map(([client]) => client).join()]
    for (const [name, { base, isClosed, moved }] of this.#layers)
      parts.push(`${name} ${isClosed} ${moved}`, this.tree(name).describe([]), [...base].join('\n'))
    return parts.join('\n\n')
  }
}
