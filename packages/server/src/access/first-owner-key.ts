import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashSecret } from './authenticator.ts'
import type { KeyStore } from '../ports/key-store.ts'
import { keyIdOf, makeKeySecret } from './owner-keys.ts'

/** Whose key it is, and whose workspaces. */
export const owner = 'owner'

/**
 * The first start makes the key `default` for the owner and writes it to `owner-key` in the data
 * directory, for the owner alone. The file comes first: a crash in between leaves a key that is
 * registered at the next start, never a server without a usable key. Returns the secret if this
 * start made it.
 */
export async function ensureOwnerKey(keys: KeyStore, data: string): Promise<string | undefined> {
  const path = join(data, 'owner-key')
  const made = await makeSecret(path)
  const secret = made ?? (await readFile(path, 'utf8')).trim()
  const hash = hashSecret(secret)
  // Named after the secret: servers with data directories of their own share a database, and each has its secret.
  // One that was removed or rotated stays so, because its id is taken.
  const id = keyIdOf(hash)
  const createdAt = new Date().toISOString()
  await keys.create({ id, owner, name: 'default', createdAt, endsAt: undefined }, hash)
  return made
}

/** Undefined when there is one already. */
async function makeSecret(path: string): Promise<string | undefined> {
  const secret = makeKeySecret()
  try {
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(`${secret}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    // DURABLE: the key is on disk; it may be shown.
    return secret
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EEXIST') return undefined
    throw error
  }
}
