import type { SandboxWorkspace } from '../sandbox.ts'

/** What the mount of a workspace shows to the server. */
export interface Credential {
  readonly server: string
  readonly key: string
}

/** The one place where it is decided what a sandbox's mount may do: as much as the token it was given. */
export function findCredential(
  workspace: SandboxWorkspace,
  env: Readonly<Record<string, string | undefined>> = process.env,
): Credential {
  const server = workspace.server ?? env['CAIRN_SERVER']
  const key = workspace.token ?? env['CAIRN_API_KEY']
  if (server && key) return { server, key }
  const missing = server ? 'a token' : 'a server'
  throw new Error(
    `cannot mount workspace ${workspace.name} in a sandbox: ${missing} is missing. ` +
      'Give `workspace.server` and `workspace.token`, or set CAIRN_SERVER and CAIRN_API_KEY.',
  )
}
