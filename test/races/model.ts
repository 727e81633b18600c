/** Layers as a plain model: a branch is a list of files, and a merge goes path by path. */

export type Files = ReadonlyMap<string, string>

export interface Line {
  readonly name: string
  files: Files
}

export interface Layer extends Line {
  readonly parent: string
  base: Files
  state: 'open' | 'conflicted' | 'committed' | 'abandoned'
  /** Grows with each change of its files; what a commit took is closed only if nothing came since. */
  moved: number
  checkpoint: Files | undefined
  /** Paths decided for the layer. */
  decided: ReadonlySet<string>
}

/** `ok`, or the code of the error. */
export type Outcome = string

export class Model {
  readonly main: Line = { name: 'main', files: new Map() }
  readonly layers: Map<string, Layer> = new Map()

  copy(): Model {
    const copy = new Model()
    copy.main.files = this.main.files
    for (const [name, layer] of this.layers) copy.layers.set(name, { ...layer })
    return copy
  }

  create(name: string, parent: string): void {
    const { files } = this.line(parent)!
    const fresh = { checkpoint: undefined, decided: new Set<string>(), moved: 0 }
    this.layers.set(name, { name, parent, files, base: files, state: 'open', ...fresh })
  }

  line(name: string): Line | undefined {
    return name === 'main' ? this.main : this.layers.get(name)
  }

  write(name: string, path: string, text: string): Outcome {
    const line = this.line(name)
    if (!line) return 'branch_missing'
    if (isClosed(line)) return 'layer_closed'
    setFiles(line, new Map([...line.files, [path, text]]))
    return 'ok'
  }

  /** Where a commit goes: to the parent or, once that is committed itself, to where its work went. */
  targetOf({ parent }: Layer): Line {
    const line = this.line(parent)!
    return isLayer(line) && line.state === 'committed' ? this.targetOf(line) : line
  }

  children(name: string): readonly Layer[] {
    return [...this.layers.values()].filter(({ parent }) => parent === name)
  }

  /** The parent has the layer's changes, and the layer is not closed yet. */
  land(layer: Layer): Outcome {
    const target = this.targetOf(layer)
    if (layer.state === 'committed') return 'ok'
    if (layer.state === 'abandoned' || isClosed(target)) return 'layer_closed'
    const { merged, conflicts } = mergeFiles(layer, target.files)
    if (conflicts.length > 0) return 'layer_conflict'
    setFiles(target, merged)
    standOn(layer, layer.files)
    return 'ok'
  }

  rebase(layer: Layer): Outcome {
    if (isClosed(layer)) return 'layer_closed'
    const { files } = this.targetOf(layer)
    const { merged, conflicts } = mergeFiles(layer, files)
    if (conflicts.length > 0) return 'layer_conflict'
    setFiles(layer, merged)
    standOn(layer, files)
    return 'ok'
  }
}

function standOn(layer: Layer, base: Files): void {
  layer.base = base
  layer.decided = new Set()
  // Behind it there is no way back.
  layer.checkpoint = undefined
  layer.state = 'open'
}

export function setFiles(line: Line, files: Files): void {
  line.files = files
  if (isLayer(line)) line.moved++
}

function isLayer(line: Line): line is Layer {
  return 'state' in line
}

export function isClosed(line: Line): boolean {
  return isLayer(line) && (line.state === 'committed' || line.state === 'abandoned')
}

/** What only one side changed is taken; what both changed to the same is no conflict. */
export function mergeFiles(
  { base, files, decided }: Pick<Layer, 'base' | 'files' | 'decided'>,
  theirs: Files,
): { readonly merged: Files; readonly conflicts: readonly string[] } {
  const merged = new Map(theirs)
  const conflicts: string[] = []
  for (const path of new Set([...base.keys(), ...files.keys()])) {
    const [was, mine, their] = [base.get(path), files.get(path), theirs.get(path)]
    if (mine === was || mine === their) continue
    if (their !== was && !decided.has(path)) conflicts.push(path)
    if (mine === undefined) merged.delete(path)
    else merged.set(path, mine)
  }
  return { merged, conflicts }
}
