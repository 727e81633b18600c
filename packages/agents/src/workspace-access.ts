import { Cairn, type Workspace } from '@cairn/sdk'
import { currentToolCall } from './tool-call.ts'

/** Which files an adapter works on, and as whom. */
export interface WorkspaceAccess {
  readonly server: string
  /** A token is better than an owner's key: the agent can do what it allows, and no more. */
  readonly apiKey: string
  readonly workspace: string
  /** `main` unless given. */
  readonly layer?: string | undefined
}

/** For one call: the log names the tool call that is current now. */
export function openAccess({ server, apiKey, workspace, layer }: WorkspaceAccess): Workspace {
  const cairn = new Cairn({ server, apiKey, toolCall: currentToolCall() })
  return cairn.workspace(workspace, { layer })
}
