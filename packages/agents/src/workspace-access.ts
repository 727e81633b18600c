import { Cairn, type Workspace } from '@cairn/sdk'

/** Which files an adapter works on, and as whom. */
export interface WorkspaceAccess {
  readonly server: string
  /** A token is better than an owner's key: the agent can do what it allows, and no more. */
  readonly apiKey: string
  readonly workspace: string
  /** `main` unless given. */
  readonly layer?: string | undefined
}

export function openAccess({ server, apiKey, workspace, layer }: WorkspaceAccess): Workspace {
  return new Cairn({ server, apiKey }).workspace(workspace, { layer })
}
