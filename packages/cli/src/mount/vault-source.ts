import type { MountConfig, VaultSource } from '@cairn/mount'
import { FsError } from '@cairn/protocol'
import { Cairn, isCairnError, type SecretInfo } from '@cairn/sdk'

/** A program that reads a file waits no longer than this. */
const timeoutMs = 30_000

/** The vault of a server, as the key or the grant sees it. */
export function openSource({ server, key, workspace }: MountConfig): VaultSource {
  const { vault } = new Cairn({ server, apiKey: key, timeoutMs }).workspace(workspace)
  return {
    list: () =>
      asErrno(async () => {
        const secrets: SecretInfo[] = []
        for await (const secret of vault.list()) secrets.push(secret)
        return secrets
      }),
    read: (secret, field) => asErrno(() => vault.readField(secret, field)),
  }
}

/** What a program in the mount is told. */
async function asErrno<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!isCairnError(error)) throw error
    if (error.code === 'secret_missing') throw new FsError('ENOENT')
    const isRefused = ['unauthenticated', 'vault_denied', 'workspace_missing'].includes(error.code)
    if (isRefused) throw new FsError('EACCES')
    throw error
  }
}
