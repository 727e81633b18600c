import type { Ino } from '@cairn/protocol'
import { parseKey } from '../filesystem/keys.ts'
import type { Snapshot } from '../filesystem/tree-view.ts'
import type { Nodes } from '../tree/nodes.ts'
import { threeWay } from '../tree/three-way.ts'
import { Identity } from './identity.ts'
import { sameContent, Side } from './sides.ts'
import { sameInlineContent, type Version } from './version.ts'

/** Something that at least one side changed since the base, as all three have it. */
export interface Changed {
  readonly id: Ino
  readonly base: Version | undefined
  readonly layer: Version | undefined
  readonly target: Version | undefined
  /** Whether its bytes differ from the base's. */
  readonly editedBy: { readonly layer: boolean; readonly target: boolean }
}

export interface ThreeSides {
  readonly base: Side
  readonly layer: Side
  readonly target: Side
}

export interface MergeInput {
  readonly base: Snapshot
  readonly layer: Snapshot
  readonly target: Snapshot
}

export function openSides(nodes: Nodes, input: MergeInput): ThreeSides {
  return {
    base: new Side(nodes, input.base),
    layer: new Side(nodes, input.layer),
    target: new Side(nodes, input.target),
  }
}

/** Everything either side changed, by identity. Costs the size of the changes. */
export async function collectChanged(
  nodes: Nodes,
  input: MergeInput,
  sides: ThreeSides,
): Promise<ReadonlyMap<Ino, Changed>> {
  const touched = await findTouched(nodes, input)
  const identity = new Identity(sides.base, sides.layer, sides.target)
  const changed = new Map<Ino, Changed>()
  const merge = (id: Ino, part: Partial<Changed>): void => {
    const absent = { base: undefined, layer: undefined, target: undefined }
    changed.set(id, { ...absent, editedBy: nobody, ...changed.get(id), ...part, id })
  }
  for (const ino of touched.inos) {
    const target = await sides.target.version(ino)
    if (target)
      merge(await identity.ofTarget(ino), { target: await identity.place(target, 'target') })
  }
  for (const ino of touched.inos) {
    const layer = await sides.layer.version(ino)
    if (layer) merge(await identity.ofLayer(ino), { layer: await identity.place(layer, 'layer') })
    const base = await sides.base.version(ino)
    if (base) merge(ino, { base })
  }
  for (const [id, object] of changed)
    merge(id, {
      editedBy: {
        layer: await isEdited('layer', object, sides, touched),
        target: await isEdited('target', object, sides, touched),
      },
    })
  return changed
}

const nobody = { layer: false, target: false }

interface Touched {
  readonly inos: ReadonlySet<Ino>
  /** Files with blocks that differ from the base's. */
  readonly blocks: { readonly layer: ReadonlySet<Ino>; readonly target: ReadonlySet<Ino> }
}

async function findTouched(nodes: Nodes, input: MergeInput): Promise<Touched> {
  const inos = new Set<Ino>()
  const blocks = { layer: new Set<Ino>(), target: new Set<Ino>() }
  const changes = threeWay(nodes, input.base.root, input.layer.root, input.target.root)
  for await (const { key, changedBy } of changes) {
    const parsed = parseKey(key)
    // Whatever happens to a name happens to its inode, too: its own name or its count of names changes.
    if (parsed.type === 'dentry') continue
    inos.add(parsed.ino)
    if (parsed.type !== 'block') continue
    if (changedBy !== 'right') blocks.layer.add(parsed.ino)
    if (changedBy !== 'left') blocks.target.add(parsed.ino)
  }
  return { inos, blocks }
}

async function isEdited(
  side: 'layer' | 'target',
  { base, [side]: version }: Changed,
  sides: ThreeSides,
  touched: Touched,
): Promise<boolean> {
  if (!base || !version) return false
  if (version.ino !== base.ino) return !(await sameContent(sides.base, base, sides[side], version))
  return touched.blocks[side].has(version.ino) || !sameInlineContent(base.inode, version.inode)
}
