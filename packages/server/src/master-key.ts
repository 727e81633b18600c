import { createHmac, randomBytes } from 'node:crypto'
import { access, link, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { CairnError } from '@cairn/protocol'
import { syncDirectory } from './storage/disk/durable-files.ts'

/** The one secret that all others of a server come from. */
export interface MasterKey {
  /** Tells keys apart, and nothing about them. */
  readonly id: string
  /** 32 bytes for one purpose; those of another tell nothing about them. */
  derive(purpose: string): Uint8Array
}

export interface MasterKeyOptions {
  /** The data directory, where one is made if none is given. */
  readonly data: string
  /** The key itself: 32 bytes as base64 or hexadecimal. */
  readonly key?: string | undefined
  /** A file that holds it. */
  readonly file?: string | undefined
  /** Several servers share a database: one that made a key of its own would refuse what the others issued. */
  readonly isShared?: boolean | undefined
}

const keyBytes = 32

/** Rejects with `storage_misconfigured` where a key must be given and is not, or cannot be read. */
export async function openMasterKey(options: MasterKeyOptions): Promise<MasterKey> {
  const { data, key, file, isShared } = options
  if (key !== undefined) return keyOf(key, 'CAIRN_MASTER_KEY')
  if (file !== undefined) return keyOf(await readKeyFile(file), file)
  if (isShared)
    throw misconfigured(
      'servers that share a database need the same one: set CAIRN_MASTER_KEY or --master-key-file',
    )
  const path = join(data, 'master-key')
  await makeKey(data, path)
  return keyOf(await readKeyFile(path), path)
}

function keyOf(text: string, where: string): MasterKey {
  const trimmed = text.trim()
  const isHex = /^[0-9a-f]{64}$/i.test(trimmed)
  const bytes = Buffer.from(trimmed, isHex ? 'hex' : 'base64')
  if (bytes.length !== keyBytes)
    throw misconfigured(`${where} must be ${keyBytes} bytes as base64 or hexadecimal`)
  const derive = (purpose: string): Uint8Array =>
    createHmac('sha256', bytes).update(purpose).digest()
  return { id: Buffer.from(derive('id')).toString('hex').slice(0, 16), derive }
}

async function readKeyFile(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8')
  } catch (cause) {
    throw misconfigured(`${path} cannot be read`, cause)
  }
}

/** Leaves one that is there alone. Written aside first: a crash must not leave half a key, which would be none for ever. */
async function makeKey(data: string, path: string): Promise<void> {
  if (await isThere(path)) return
  const aside = `${path}.${randomBytes(6).toString('hex')}`
  try {
    const file = await open(aside, 'wx', 0o600)
    try {
      await file.writeFile(`${randomBytes(keyBytes).toString('base64')}\n`)
      await file.sync()
    } finally {
      await file.close()
    }
    await link(aside, path)
    await syncDirectory(data)
    // DURABLE: the key is on disk under its name; secrets may be made of it.
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error
  } finally {
    await rm(aside, { force: true })
  }
}

async function isThere(path: string): Promise<boolean> {
  return access(path).then(
    () => true,
    () => false,
  )
}

function misconfigured(why: string, cause?: unknown): CairnError {
  return new CairnError('storage_misconfigured', {
    message: `cannot use the master key: ${why}`,
    cause,
  })
}
