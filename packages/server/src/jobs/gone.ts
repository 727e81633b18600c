import type { BranchId, Gone } from '@cairn/protocol'
import type { ExpiredLayer } from '../storage/expiry-table.ts'
import type { SurveyedWorkspace } from '../storage/survey-table.ts'

/** A branch that goes. */
export interface GoneBranch {
  readonly id: BranchId
  readonly workspace: SurveyedWorkspace
  /** The id of the layer it was made for. Absent of main, and of what goes with its workspace. */
  readonly layer?: string | undefined
}

/** Names what goes: of one owner, or of all. */
export function nameGone(
  workspaces: readonly SurveyedWorkspace[],
  layers: readonly ExpiredLayer[],
  branches: readonly GoneBranch[],
  owner: string | undefined,
): Gone {
  const named = new Map(
    workspaces
      .filter((workspace) => owner === undefined || workspace.owner === owner)
      .map((workspace) => [workspace.id, workspace]),
  )
  const own = branches.filter(({ workspace }) => named.has(workspace.id))
  // Its layers may go without the workspace, but main goes with it alone.
  const whole = new Set(own.filter(isMain).map(({ workspace }) => workspace))
  return {
    workspaces: [...whole].map(({ id, name, deletedAt }) => ({ id, name, deletedAt: deletedAt! })),
    layers: layers
      .filter(({ workspace }) => named.has(workspace))
      .map(({ workspace, id, name, state, closedAt }) => ({
        workspace: named.get(workspace)!.name,
        id,
        ...(name === undefined ? {} : { name }),
        state,
        closedAt,
      })),
    branches: own.map(({ id, workspace, layer }) => ({
      workspace: workspace.name,
      id,
      ...(layer === undefined ? {} : { layer }),
    })),
  }
}

function isMain({ id, workspace }: GoneBranch): boolean {
  return id === `${workspace.id}/main`
}
