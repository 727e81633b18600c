import { type Plain, type PlainTree, samePlain } from './plain-tree.ts'

export interface PathMerge {
  /** `kind path`, sorted. */
  readonly conflicts: readonly string[]
  /** What it comes to when there are no conflicts. */
  readonly tree: PlainTree
}

/**
 * The merge that you would make with three listings side by side, path by path. Right as long as
 * nothing is renamed or has two names: then a thing is its path and its kind.
 */
export function mergeByPath(base: PlainTree, layer: PlainTree, target: PlainTree): PathMerge {
  const merge = new ByPath(base, layer, target)
  merge.visit('')
  const tree = new Map([...merge.tree].sort(([a], [b]) => (a < b ? -1 : 1)))
  return { conflicts: [...merge.conflicts].sort(), tree }
}

class ByPath {
  readonly conflicts = new Set<string>()
  readonly tree = new Map<string, Plain>()
  readonly #base: PlainTree
  readonly #layer: PlainTree
  readonly #target: PlainTree

  constructor(base: PlainTree, layer: PlainTree, target: PlainTree) {
    this.#base = base
    this.#layer = layer
    this.#target = target
  }

  visit(path: string): void {
    const [layer, target] = [this.#layer.get(path), this.#target.get(path)]
    if (layer && target?.kind === layer.kind) return this.#both(path, layer, target)
    const layerStays = this.#stays(path, this.#layer)
    const targetStays = this.#stays(path, this.#target)
    if (layerStays && targetStays) this.#collide(path, layer!, target!)
    else if (layerStays) this.#take(path, this.#layer)
    else if (targetStays) this.#take(path, this.#target)
  }

  #both(path: string, layer: Plain, target: Plain): void {
    const base = this.#known(path, layer)
    const pick = <Field extends keyof Plain>(field: Field, conflict: string): Plain[Field] => {
      const b: Plain[Field] | undefined = base?.[field]
      const l: Plain[Field] = layer[field]
      const t: Plain[Field] = target[field]
      // Two new files have nothing in common, except that neither had an attribute before.
      const known = base !== undefined || field === 'xattr'
      if (l === t || (known && l === b)) return t
      if (known && t === b) return l
      this.conflicts.add(`${conflict} ${path}`)
      return t
    }
    const content = pick('content', base ? 'edit/edit' : 'add/add')
    const [mode, uid, gid, xattr] = [
      pick('mode', 'mode'),
      pick('uid', 'mode'),
      pick('gid', 'mode'),
      pick('xattr', 'mode'),
    ]
    this.tree.set(path, { kind: layer.kind, content, mode, uid, gid, xattr })
    const below = [...childrenOf(this.#layer, path), ...childrenOf(this.#target, path)]
    for (const child of new Set(below)) this.visit(child)
  }

  /** Whether something is left of what only one side has there. */
  #stays(path: string, side: PlainTree): boolean {
    const thing = side.get(path)
    if (!thing) return false
    const base = this.#known(path, thing)
    if (!base || !samePlain(thing, base)) return true
    return childrenOf(side, path).some((child) => this.#stays(child, side))
  }

  #collide(path: string, layer: Plain, target: Plain): void {
    const directories = [layer, target].filter(({ kind }) => kind === 'directory').length
    const known = this.#known(path, layer) ?? this.#known(path, target)
    const kind = directories === 1 ? 'file/directory' : known ? 'edit/edit' : 'add/add'
    this.conflicts.add(`${kind} ${path}`)
  }

  /** Takes what one side has and the other deleted or never had. */
  #take(path: string, side: PlainTree): void {
    const thing = side.get(path)!
    const base = this.#known(path, thing)
    const edited = base !== undefined && !samePlain(thing, base)
    if (edited) this.conflicts.add(`edit/delete ${path}`)
    this.tree.set(path, thing)
    for (const child of childrenOf(side, path)) {
      if (!this.#stays(child, side)) continue
      const isNew = !this.#known(child, side.get(child)!)
      // Put into a directory that the other side deleted. If the directory is asked about, that will do.
      if (isNew && base && !edited) this.conflicts.add(`edit/delete ${child}`)
      this.#take(child, side)
    }
  }

  /** What was there in the base, if it was of the same kind. */
  #known(path: string, { kind }: Plain): Plain | undefined {
    const base = this.#base.get(path)
    return base?.kind === kind ? base : undefined
  }
}

function childrenOf(tree: PlainTree, path: string): readonly string[] {
  const prefix = path === '' ? '' : `${path}/`
  return [...tree.keys()].filter(
    (other) =>
      other !== '' && other.startsWith(prefix) && !other.slice(prefix.length).includes('/'),
  )
}
