import { type Cairn, isCairnError } from '@cairn/sdk'

/** False when it is there already. Of several that make it at once, one does. */
export async function ensureWorkspace(
  cairn: Cairn,
  name: string,
  signal: AbortSignal,
): Promise<boolean> {
  try {
    await cairn.workspaces.create(name, { signal })
    return true
  } catch (error) {
    if (isCairnError(error) && error.code === 'workspace_exists') return false
    throw error
  }
}
