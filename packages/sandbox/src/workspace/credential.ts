import type { SandboxWorkspace } from '../sandbox.ts'

/** Where a server is, and what is shown to it. */
export interface Credential {
  readonly server: string
  readonly key: string
}

/** What the maker of a sandbox has. It stays outside: what its mount gets is lent from it (`loan.ts`). */
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
