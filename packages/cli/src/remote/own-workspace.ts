import type { Cairn } from '@cairn/sdk'

/** What `cairn serve` calls the workspace that it makes on an empty data directory. */
export const firstWorkspaceName = 'default'

/** What `:/` means when no workspace is named: `default`, or the only one. A token sees only its own. */
export async function findOwnWorkspace(
  { workspaces }: Cairn,
  options: { readonly signal?: AbortSignal; readonly timeoutMs?: number },
): Promise<string | undefined> {
  const names: string[] = []
  for await (const { name } of workspaces.list(options)) {
    if (name === firstWorkspaceName) return name
    names.push(name)
  }
  return names.length === 1 ? names[0] : undefined
}
