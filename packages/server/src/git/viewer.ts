import { allowsAll, type ByteString, formatHash } from '@cairn/protocol'
import type { Snapshot, Time } from '@cairn/core'
import type { Scope } from '../access/access.ts'
import { isShown } from '../layers/layer-names.ts'
import type { LayerRecord } from '../ports/layer-store.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { ExportedRepository } from './exported-repository.ts'
import { type ShownTree, treeKey } from './tree-lines.ts'

/** Two hashes are kept for each. */
const rootsMax = 1000

/** Who changed something, and when. */
export interface Made {
  readonly actor: string
  readonly time: Time
}

/** Who an exported repository is for, and what that caller sees. */
export interface Viewer {
  /** Whether commits of layers are merges, and who made what is told. */
  readonly seesHistory: boolean
  readonly seesMain: boolean
  seesLayer(record: LayerRecord): boolean
  /** `path` is that of a layer, or `/` for main. */
  seesCheckpoints(path: ByteString): boolean
  shown(snapshot: Snapshot): ShownTree
  /** Equal for points that the caller cannot tell apart. */
  rootOf(snapshot: Snapshot): Promise<string>
  /** Who made a commit, and when, as the caller is told. */
  tell(made: Made | undefined): Made
}

export function ownerView(): Viewer {
  return {
    seesHistory: true,
    seesMain: true,
    seesLayer: () => true,
    seesCheckpoints: () => true,
    shown: (snapshot) => ({ snapshot, grant: undefined }),
    rootOf: async ({ root }) => formatHash(root),
    tell: (made) => made ?? { actor: 'cairn', time: { sec: 0, nsec: 0 } },
  }
}

/**
 * A token's repository has the files that the token reads. A change of other files makes no commit there, and no commit
 * tells who made it or when: both would tell of changes that are hidden.
 */
export function tokenView(
  { stores, clock }: OpenWorkspace,
  { grant }: Scope,
  { shownRoots }: ExportedRepository,
): Viewer {
  const shown = (snapshot: Snapshot): ShownTree => ({ snapshot, grant })
  return {
    seesHistory: false,
    seesMain: grant.layer === undefined,
    seesLayer: ({ id, path }) => isShown(grant, id, path),
    seesCheckpoints: (path) => allowsAll(grant, 'list', path),
    shown,
    rootOf: async (snapshot) => {
      const root = formatHash(snapshot.root)
      const known = shownRoots.get(root) ?? (await treeKey(stores, shown(snapshot)))
      if (shownRoots.size >= rootsMax) shownRoots.clear()
      shownRoots.set(root, known)
      return known
    },
    tell: () => ({ actor: 'cairn', time: clock.now() }),
  }
}
