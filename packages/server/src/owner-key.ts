import { randomBytes } from 'node:crypto'
import { open, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { hashSecret } from './access/authenticator.ts'
import type { KeyTable } from './storage/key-table.ts'

/** Whose key it is, and whose workspaces. */
export const owner = 'owner'

/**
 * The first start makes a key for the owner and writes it to `owner-key` in the data directory, for the owner alone.
 * The file comes first: a crash in between leaves a key that is registered at the next start, never a server
 * that nobody can enter. Gives the secret if this start made it.
 */
export async function ensureOwnerKey(keys: KeyTable, data: string): Promise<string | undefined> {
  const path = join(data, 'owner-key')
  const made = await makeSecret(path)
  const secret = made ?? (await readFile(path, 'utf8')).trim()
  const hash = hashSecret(secret)
  // Named after the secret: servers with data directories of their own share a database, and each has its key.
  const id = `key_${Buffer.from(hash).toString('hex').slice(0, 16)}`
  const createdAt = new Date().toISOString()
  await keys.create({ id, owner, kind: 'owner', label: 'owner', createdAt }, hash)
  return made
}

/** Undefined when there is one already. */
async function makeSecret(path: string): Promise<string | undefined> {
  const secret = `cairn_${randomBytes(32).toString('base64url')}`
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
