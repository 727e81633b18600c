import { findCredential, type Sandbox, type SandboxWorkspace } from '@cairn/sandbox'
import { Cairn, type Workspace } from '@cairn/sdk'

/** Where the machines of an adapter come from. */
export interface SandboxSource {
  readonly workspace: SandboxWorkspace
  /** A machine with this workspace mounted, such as `(workspace) => new E2BSandbox({ template, workspace })`. */
  readonly make: (workspace: SandboxWorkspace) => Sandbox
}

export function openWorkspace(workspace: SandboxWorkspace): Workspace {
  const { server, key } = findCredential(workspace)
  return new Cairn({ server, apiKey: key }).workspace(workspace.name)
}
