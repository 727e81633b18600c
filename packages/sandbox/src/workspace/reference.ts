import type { SandboxWorkspace } from '../sandbox.ts'

/** A sandbox's workspace without what is secret: it can be stored, and the sandbox made again from it. */
export type WorkspaceReference = Omit<SandboxWorkspace, 'token'> &
  Required<Pick<SandboxWorkspace, 'path' | 'mountPath'>>

const defaultMountPath = '/home/user/workspace'

export function referenceOf(workspace: SandboxWorkspace): WorkspaceReference {
  const { token: _, path = '/', mountPath = defaultMountPath, ...rest } = workspace
  if (!mountPath.startsWith('/'))
    throw new Error(
      `cannot mount workspace ${workspace.name} at ${mountPath}: give an absolute path in the sandbox`,
    )
  return { ...rest, path, mountPath }
}
