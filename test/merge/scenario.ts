import {
  type Choice,
  merge,
  type MergeTreesOptions,
  type MergeResult,
  type Snapshot,
  type Stores,
  storeNewTree,
} from '@cairn/core'
import { Supply, TreeEditor } from '@cairn/core/testing'
import { isFsError } from '@cairn/protocol'
import fc from 'fast-check'
import { MemoryDisk } from '@cairn/server/testing'

/**
 * One thing that a user does to a tree. Numbers point into the listing at that moment, round and
 * round, so that nearly every step hits something; what a file system refuses is not done.
 */
export type Step =
  | { readonly do: 'edit' | 'save'; readonly file: number; readonly content: string }
  | { readonly do: 'poke'; readonly file: number; readonly offset: number }
  | { readonly do: 'make'; readonly directory: number; readonly name: string; readonly new: New }
  | { readonly do: 'replace'; readonly entry: number; readonly new: New }
  | { readonly do: 'remove' | 'touch' | 'removexattr'; readonly entry: number }
  | { readonly do: 'chmod' | 'chown' | 'setxattr'; readonly entry: number; readonly value: number }
  | {
      readonly do: 'rename' | 'link'
      readonly entry: number
      readonly directory: number
      readonly name: string
    }
  | { readonly do: 'exchange'; readonly entry: number; readonly other: number }

export interface New {
  readonly kind: 'file' | 'directory' | 'symlink' | 'character'
  readonly content: string
}

/** Three histories of one tree. Plain data: a failing one is kept as a file. */
export interface Scenario {
  readonly base: readonly Step[]
  /** What both sides do first, each by itself: equal changes must not be conflicts. */
  readonly both: readonly Step[]
  readonly layer: readonly Step[]
  readonly target: readonly Step[]
  /** Everything happens in one tick of the clock, so that times tell nothing. */
  readonly frozen: boolean
  /** How conflicts are decided where a test asks for it, round and round. */
  readonly answers: readonly Choice['type'][]
}

const numbers = fc.nat(9)
/** Few names and few contents, so that the sides meet. The long one is stored as a blob. */
const names = fc.constantFrom('a', 'b', 'c', 'd')
const contents = fc.constantFrom('', 'x', 'y', 'z', 'w'.repeat(200))
const values = fc.constantFrom(1, 2)
const news: fc.Arbitrary<New> = fc.oneof(
  { weight: 5, arbitrary: newOf('file', contents) },
  { weight: 4, arbitrary: newOf('directory', fc.constant('')) },
  { weight: 1, arbitrary: newOf('symlink', fc.constantFrom('x', 'y')) },
  { weight: 1, arbitrary: newOf('character', fc.constantFrom('1', '2')) },
)

function newOf(kind: New['kind'], content: fc.Arbitrary<string>): fc.Arbitrary<New> {
  return fc.record({ kind: fc.constant(kind), content })
}

const stillSteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 5, arbitrary: stepOf(['make'], { directory: numbers, name: names, new: news }) },
  { weight: 5, arbitrary: stepOf(['edit', 'save'], { file: numbers, content: contents }) },
  // Behind the first block, which leaves a hole.
  {
    weight: 1,
    arbitrary: stepOf(['poke'], { file: numbers, offset: fc.constantFrom(1, 262_144) }),
  },
  { weight: 2, arbitrary: stepOf(['replace'], { entry: numbers, new: news }) },
  { weight: 4, arbitrary: stepOf(['remove'], { entry: numbers }) },
  { weight: 1, arbitrary: stepOf(['touch', 'removexattr'], { entry: numbers }) },
  {
    weight: 2,
    arbitrary: stepOf(['chmod', 'chown', 'setxattr'], { entry: numbers, value: values }),
  },
)

const movingSteps: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: stillSteps },
  {
    weight: 8,
    arbitrary: stepOf(['rename', 'rename', 'link'], {
      entry: numbers,
      directory: numbers,
      name: names,
    }),
  },
  { weight: 1, arbitrary: stepOf(['exchange'], { entry: numbers, other: numbers }) },
)

function stepOf(
  what: readonly Step['do'][],
  more: Readonly<Record<string, fc.Arbitrary<unknown>>>,
): fc.Arbitrary<Step> {
  return fc.record({ do: fc.constantFrom(...what), ...more }) as fc.Arbitrary<Step>
}

/** Without renames and hard links a path is all that a thing is. */
export const stillScenarios: fc.Arbitrary<Scenario> = scenarios(stillSteps)

export const movingScenarios: fc.Arbitrary<Scenario> = scenarios(movingSteps)

/** Directories moved into each other, which chance alone does too rarely. */
export const tangledScenarios: fc.Arbitrary<Scenario> = scenarios(
  fc.oneof(
    { weight: 1, arbitrary: movingSteps },
    {
      weight: 5,
      arbitrary: stepOf(['rename'], { entry: numbers, directory: numbers, name: names }),
    },
  ),
  newOf('directory', fc.constant('')),
)

function scenarios(
  steps: fc.Arbitrary<Step>,
  made: fc.Arbitrary<New> = news,
): fc.Arbitrary<Scenario> {
  const baseSteps = fc.oneof(
    {
      weight: 4,
      arbitrary: stepOf(['make'], { directory: numbers, name: names, new: made }),
    },
    { weight: 1, arbitrary: steps },
  )
  return fc.record({
    base: fc.array(baseSteps, { maxLength: 14, size: 'max' }),
    both: fc.array(steps, { maxLength: 2 }),
    layer: fc.array(steps, { maxLength: 6, size: 'max' }),
    target: fc.array(steps, { maxLength: 6, size: 'max' }),
    frozen: fc.boolean(),
    answers: fc.array(fc.constantFrom('layer', 'target', 'bytes'), { minLength: 1, maxLength: 4 }),
  })
}

export function isStill({ base, both, layer, target }: Scenario): boolean {
  const steps = [...base, ...both, ...layer, ...target]
  return steps.every(({ do: what }) => !['rename', 'exchange', 'link'].includes(what))
}

/** A scenario played: three snapshots in one set of stores. */
export interface Played {
  readonly stores: Stores
  readonly base: Snapshot
  readonly layer: Snapshot
  readonly target: Snapshot
}

export async function play(scenario: Scenario): Promise<Played> {
  const stores = new MemoryDisk().open()
  const supply = new Supply(scenario.frozen ? 0 : 1)
  const edit = (from: Snapshot, steps: readonly Step[]): Promise<Snapshot> => {
    const editor = new TreeEditor(stores, from, supply)
    for (const each of steps) tryStep(editor, each)
    return editor.fold()
  }
  const base = await edit(await storeNewTree(stores.nodes), scenario.base)
  const layer = await edit(base, [...scenario.both, ...scenario.layer])
  const target = await edit(base, [...scenario.both, ...scenario.target])
  return { stores, base, layer, target }
}

export function mergePlayed(
  { stores, base, layer, target }: Played,
  options: Pick<MergeTreesOptions, 'resolutions' | 'mergeText'> = {},
): Promise<MergeResult> {
  const { nodes, blobs } = stores
  return merge({ nodes, blobs, base, layer, target, ...options })
}

export function tryStep(tree: TreeEditor, step: Step): void {
  try {
    doStep(tree, step)
  } catch (error) {
    if (!isFsError(error)) throw error
  }
}

function doStep(tree: TreeEditor, step: Step): unknown {
  const listing = new Listing(tree)
  const path = 'file' in step ? listing.file(step.file) : listing.entry(entryOf(step))
  switch (step.do) {
    case 'edit':
      return tree.write(path, step.content)
    case 'save':
      return tree.saveByRename(path, step.content)
    case 'poke':
      return tree.writeAt(path, step.offset, 'p')
    case 'make':
      return make(tree, listing.free(step), step.new)
    case 'replace':
      return make(tree.remove(path), path, step.new)
    case 'remove':
      return tree.remove(path)
    case 'touch':
      return tree.touch(path)
    case 'removexattr':
      return tree.removexattr(path, 'user.x')
    case 'chmod':
      return tree.chmod(path, 0o600 + step.value)
    case 'chown':
      return tree.chown(path, step.value)
    case 'setxattr':
      return tree.setxattr(path, 'user.x', `${step.value}`)
    case 'rename':
      return tree.rename(path, listing.free(step))
    case 'link':
      return tree.link(path, listing.free(step))
    case 'exchange':
      return tree.rename(path, listing.entry(step.other), 'exchange')
  }
}

function entryOf(step: Step): number {
  return 'entry' in step ? step.entry : 0
}

function make(tree: TreeEditor, path: string, { kind, content }: New): unknown {
  if (kind === 'file') return tree.mknod(path, kind).write(path, content)
  if (kind === 'symlink') return tree.symlink(path, content)
  return tree.mknod(path, kind, kind === 'directory' ? { mode: 0o755 } : { rdev: Number(content) })
}

/** What is in the tree now, by path. */
class Listing {
  readonly #entries: string[] = []
  readonly #files: string[] = []
  readonly #directories: string[] = ['']

  constructor(tree: TreeEditor) {
    for (const directory of this.#directories)
      for (const { name, kind } of tree.entries(directory)) {
        const path = directory === '' ? name : `${directory}/${name}`
        this.#entries.push(path)
        if (kind === 'file') this.#files.push(path)
        if (kind === 'directory') this.#directories.push(path)
      }
  }

  /** Empty, which is the root, where there are none. */
  entry(number: number): string {
    return this.#entries[number % this.#entries.length] ?? ''
  }

  file(number: number): string {
    return this.#files[number % this.#files.length] ?? ''
  }

  /** Where something can be put, free or not. */
  free(to: { readonly directory: number; readonly name: string }): string {
    const directory = this.#directories[to.directory % this.#directories.length]!
    return directory === '' ? to.name : `${directory}/${to.name}`
  }
}
