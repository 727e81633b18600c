import {
  type Blobs,
  type Inode,
  joinNames,
  type Nodes,
  pathOf,
  requireAllowed,
  resolvePath,
  type Snapshot,
  scopedView,
  TreeView,
  type View,
  superuser,
} from '@cairn/core'
import { type ByteString, FsError, type Grant, isWay } from '@cairn/protocol'
import type { Point } from '../points/references.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import type { SearchPlace } from './tree-files.ts'

/** The point that is searched, and who asks. */
export interface SearchRequest extends Point {
  readonly workspace: OpenWorkspace
  readonly asker: Asker
}

export interface SearchStores {
  readonly nodes: Nodes
  readonly blobs: Blobs
  /** Its id. */
  readonly workspace: string
}

/** What is searched: one tree that does not change, as the asker sees it. */
export interface SearchTarget extends SearchStores {
  readonly snapshot: Snapshot
  readonly view: View
  readonly grant: Grant | undefined
}

export interface SearchTop extends SearchPlace {
  readonly inode: Inode
}

/** The head is folded first: then the search is of one moment, and every content has its name. */
export async function openSearchTarget(target: SearchRequest): Promise<SearchTarget> {
  return searchTargetAt(target, target.snapshot ?? (await target.branch.fold()).snapshot)
}

/** Another moment of the same workspace, as the same asker sees it. */
export function searchTargetAt(
  { workspace, asker }: SearchRequest,
  snapshot: Snapshot,
): SearchTarget {
  const { nodes, blobs } = workspace.stores
  const grant = asker.scope?.grant
  const whole = new TreeView(nodes, snapshot)
  return {
    nodes,
    blobs,
    workspace: workspace.info.id,
    snapshot,
    grant,
    view: grant ? scopedView(whole, grant) : whole,
  }
}

/** Throws where there is nothing, or nothing that the asker may search. */
export function findTop(
  { nodes, view, grant }: SearchTarget,
  path: ByteString,
): Promise<SearchTop> {
  return nodes.read(() => {
    const { dentry } = resolvePath(view, path, { who: superuser, follow: true })
    if (!dentry) throw new FsError('ENOENT')
    const names = pathOf(view, dentry.ino)!
    const found = joinNames(names)
    if (grant && !isWay(grant, found)) requireAllowed(grant, 'search', found)
    return { ino: dentry.ino, inode: view.inode(dentry.ino)!, names }
  })
}
