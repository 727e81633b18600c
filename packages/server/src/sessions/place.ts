import {
  type Branch,
  resolveExisting,
  type Snapshot,
  TreeView,
  type View,
  superuser,
} from '@cairn/core'
import { type ByteString, FsError, type Ino, rootIno } from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { UnusedContent } from './unused-content.ts'

/**
 * A client that may open a session may see where its path leads; each operation is checked by
 * itself.
 */
/** What a session's questions are about: a branch as it is, or as it was. */
export interface ReadPlace {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  /** The batch after which the branch is as `view` shows it. Both may move on at each await. */
  readonly seq: number
  readonly view: View
  /** Set when the caller is a token; limits what it can see. */
  readonly scope: SessionScope | undefined
  /** Where content may be stored. */
  readonly unused?: UnusedContent
}

export function headPlace(
  workspace: OpenWorkspace,
  branch: Branch,
  scope: SessionScope | undefined,
): ReadPlace {
  return {
    workspace,
    branch,
    scope,
    unused: new UnusedContent(branch, workspace.quotas, scope),
    get seq() {
      return branch.head.position.seq
    },
    get view() {
      return branch.head.view
    },
  }
}

export function pastPlace(
  workspace: OpenWorkspace,
  branch: Branch,
  { seq, snapshot }: { readonly seq: number; readonly snapshot: Snapshot },
  scope: SessionScope | undefined,
): ReadPlace {
  return { workspace, branch, seq, view: new TreeView(workspace.stores.nodes, snapshot), scope }
}

/** Reads at one moment; loads what is not in memory and begins anew. */
export function readPlace<T>(place: ReadPlace, read: (view: View) => T): Promise<T> {
  return place.workspace.stores.nodes.read(() => read(place.view))
}

/** An empty path is the root directory. */
export async function findDirectory(place: ReadPlace, path: ByteString): Promise<Ino> {
  if (path === '') return rootIno
  const { ino, kind } = await readPlace(place, (view) =>
    resolveExisting(place.scope?.see(view) ?? view, path, { who: superuser, follow: true }),
  )
  if (kind !== 'directory') throw new FsError('ENOTDIR')
  return ino
}
