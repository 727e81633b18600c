import type { Branch } from '@cairn/core'
import { CairnError } from '@cairn/protocol'
import type { Scope } from '../access/access.ts'
import { findScopedLayer } from '../layers/scoped-layers.ts'
import { findLayer } from '../points/references.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { workspaceMissing, type WorkspaceKeeper } from '../workspaces/workspace-keeper.ts'

/** Whom a connection belongs to. */
export interface SessionCaller {
  readonly id: string
  readonly owner: string
  /** Set when the caller is a token. */
  readonly scope?: Scope
}

/** For a token there is no other than its own. */
export async function openSessionWorkspace(
  workspaces: WorkspaceKeeper,
  { owner, scope }: SessionCaller,
  name: string,
): Promise<OpenWorkspace> {
  const workspace = await workspaces.open(owner, name)
  if (scope && scope.workspace !== workspace.info.id) throw workspaceMissing(name)
  return workspace
}

/** Other than a branch of that name, a layer that is so called: by its tag, say. */
export async function openSessionBranch(
  workspace: OpenWorkspace,
  name: string,
  { scope }: SessionCaller,
): Promise<Branch> {
  // A token that is bound to a layer and names none means that one.
  const meant = name === 'main' ? (scope?.grant.layer ?? name) : name
  if (meant === 'main') return workspace.branch(meant)
  const { branch, checkpoint } = await (scope
    ? findScopedLayer(workspace, scope, meant)
    : findLayer(workspace, meant))
  if (!checkpoint) return branch
  throw new CairnError('read_only', {
    what: `open a session at checkpoint '${name}'`,
    reason: 'a checkpoint does not change',
    subject: name,
  })
}
