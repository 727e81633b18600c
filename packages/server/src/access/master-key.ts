import { exec } from 'node:child_process'
import { createHash, hkdfSync, randomBytes } from 'node:crypto'
import { link, open, readFile, rename, unlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { CairnError } from '@cairn/protocol'
import { hasCode, isMissing } from '../storage/disk/errors.ts'
import { syncDirectory } from '../storage/disk/durable-files.ts'

/** What everything secret hangs from. It encrypts nothing itself: each purpose has a key of its own. */
export interface MasterKey {
  /** Says which one it is, and nothing about it. */
  readonly id: string
  /** 32 bytes, always the same for the same purpose. */
  derive(purpose: string): Uint8Array
}

/** The newest key, and those that were the newest before it. */
export interface MasterKeys extends MasterKey {
  /** Newest first: what was made from one that is no longer the newest is recognised by trying. */
  readonly known: readonly MasterKey[]
  /** One of them; looks whether it has been added meanwhile. */
  find(id: string): Promise<MasterKey | undefined>
  /**
   * A key that the server made itself gets a successor; a list that the operator keeps is read
   * again.
   */
  renew(): Promise<MasterKey>
}

/** Each place holds one key a line, the newest first: 32 bytes in hex or base64. The first that is given counts. */
export interface MasterKeyOptions {
  /** The data directory: without any other place, the key is made and kept there. */
  readonly data: string
  /** The keys themselves. */
  readonly key?: string | undefined
  readonly file?: string | undefined
  /** A shell command that prints them, for a key service. */
  readonly command?: string | undefined
  /** Other servers serve the same workspaces, and a key made here would be strange to them. */
  readonly isShared?: boolean | undefined
}

const keyBytes = 32
const run = promisify(exec)

/** Rejects with `storage_misconfigured` for keys that are none. */
export async function openMasterKey(options: MasterKeyOptions): Promise<MasterKeys> {
  const ring = new KeyRing(sourceOf(options))
  await ring.load()
  return ring
}

interface KeySource {
  readonly name: string
  read(): Promise<string | undefined>
  /** Absent where the operator keeps the keys. */
  readonly replace?: (text: string) => Promise<void>
}

class KeyRing implements MasterKeys {
  readonly #source: KeySource
  #keys: readonly MasterKey[] = []
  #text = ''
  #renewed: Promise<unknown> = Promise.resolve()

  constructor(source: KeySource) {
    this.#source = source
  }

  get id(): string {
    return this.#newest.id
  }

  get known(): readonly MasterKey[] {
    return this.#keys
  }

  derive(purpose: string): Uint8Array {
    return this.#newest.derive(purpose)
  }

  async find(id: string): Promise<MasterKey | undefined> {
    const isIt = (key: MasterKey): boolean => key.id === id
    if (!this.known.some(isIt)) await this.load()
    return this.known.find(isIt)
  }

  /** One at a time: of two that begin with the same list, the later would leave out the key of the other. */
  renew(): Promise<MasterKey> {
    const renewed = this.#renewed.then(() => this.#renew())
    this.#renewed = renewed.catch(() => undefined)
    return renewed
  }

  async #renew(): Promise<MasterKey> {
    await this.load()
    const { replace } = this.#source
    if (replace) {
      await replace(`${newKey()}\n${this.#text}`)
      await this.load()
    }
    return this.#newest
  }

  async load(): Promise<void> {
    const text = await this.#source.read()
    if (text === undefined) return
    this.#keys = parseKeys(text, this.#source.name)
    this.#text = text
  }

  get #newest(): MasterKey {
    const [newest] = this.#keys
    if (newest) return newest
    throw misconfigured(
      'servers that share a database need the same master key, and none is given. Give CAIRN_MASTER_KEY, --master-key-file or --master-key-command to each',
    )
  }
}

function sourceOf({ data, key, file, command, isShared }: MasterKeyOptions): KeySource {
  if (key !== undefined) return { name: 'CAIRN_MASTER_KEY', read: async () => key }
  if (file !== undefined) return { name: file, read: () => readKeyFile(file) }
  if (command !== undefined)
    return { name: 'the master key command', read: () => runKeyCommand(command) }
  if (isShared) return { name: data, read: async () => undefined }
  const path = join(data, 'master-key')
  return {
    name: path,
    read: async () => (await findKeyFile(path)) ?? (await makeKeyFile(path)) ?? readKeyFile(path),
    replace: (next) => replaceKeyFile(path, next),
  }
}

function parseKeys(text: string, place: string): readonly MasterKey[] {
  const words = text
    .replace(/#.*/g, '')
    .split(/[\s,]+/)
    .filter((word) => word !== '')
  if (words.length === 0) throw misconfigured(`${place} holds no key`)
  return words.map((word, index) => {
    const bytes = /^[0-9a-fA-F]{64}$/.test(word)
      ? Buffer.from(word, 'hex')
      : Buffer.from(word, 'base64')
    // The words themselves are not told: they may be keys that lack a character.
    if (bytes.length !== keyBytes)
      throw misconfigured(`key ${index + 1} of ${place} is not ${keyBytes} bytes in hex or base64`)
    return masterKey(bytes)
  })
}

function masterKey(bytes: Uint8Array): MasterKey {
  const derive = (purpose: string): Uint8Array =>
    new Uint8Array(hkdfSync('sha256', bytes, 'cairn master key', purpose, keyBytes))
  const id = createHash('sha256').update(derive('id')).digest('hex').slice(0, 16)
  return { id, derive }
}

function newKey(): string {
  return randomBytes(keyBytes).toString('base64')
}

/** Undefined when there is one already. It gets its name when it is whole: half a key would be worse than none. */
async function makeKeyFile(path: string): Promise<string | undefined> {
  const text = `${newKey()}\n`
  const draft = draftOf(path)
  await writeSynced(draft, text)
  try {
    await link(draft, path)
    await syncDirectory(dirname(path))
    // DURABLE: the key is on disk; it may be used.
    return text
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return undefined
    throw error
  } finally {
    await unlink(draft)
  }
}

function draftOf(path: string): string {
  return `${path}.${randomBytes(6).toString('hex')}`
}

async function replaceKeyFile(path: string, text: string): Promise<void> {
  const draft = draftOf(path)
  await writeSynced(draft, text)
  await rename(draft, path)
  await syncDirectory(dirname(path))
  // DURABLE: the new key is on disk, and the old ones with it; it may be used.
}

async function writeSynced(path: string, text: string): Promise<void> {
  const file = await open(path, 'wx', 0o600)
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function findKeyFile(path: string): Promise<string | undefined> {
  try {
    return await readFile(path, 'utf8')
  } catch (error) {
    if (isMissing(error)) return undefined
    throw misconfigured(`${path} cannot be read`, error)
  }
}

async function readKeyFile(path: string): Promise<string> {
  const text = await findKeyFile(path)
  if (text === undefined) throw misconfigured(`there is no file ${path}`)
  return text
}

async function runKeyCommand(command: string): Promise<string> {
  try {
    return (await run(command, { timeout: 30_000 })).stdout
  } catch {
    // What it printed may be a key, so neither it nor the error that quotes it goes anywhere.
    throw misconfigured('the master key command failed')
  }
}

function misconfigured(why: string, cause?: unknown): CairnError {
  return new CairnError('storage_misconfigured', {
    what: 'use the master key',
    reason: why,
    subject: 'master key',
    cause,
  })
}
