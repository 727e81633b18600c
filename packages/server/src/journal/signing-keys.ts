import {
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hash,
  type KeyObject,
  sign,
  verify,
} from 'node:crypto'
import type { JournalCrypto } from '@cairn/protocol'
import type { JournalTable, StoredJournalKey } from '../storage/journal-table.ts'
import { decrypt, encrypt, wiping } from '../vault/encrypt.ts'
import type { WorkspaceKeys } from '../vault/workspace-keys.ts'

/** What stands before the 32 bytes of an Ed25519 key in DER: RFC 8410. */
const publicPrefix = Buffer.from('302a300506032b6570032100', 'hex')

/** What checks journals here. */
export const journalCrypto: JournalCrypto = {
  sha256: (text) => hash('sha256', text, 'hex'),
  verify: (publicKey, text, signature) => {
    const key = readPublicKey(publicKey)
    return key !== undefined && verify(null, Buffer.from(text), key, Buffer.from(signature, 'hex'))
  },
}

/** One key pair for the journals of a workspace. The private half is on disk only wrapped by the workspace's key. */
export class SigningKeys {
  readonly #table: JournalTable
  readonly #keys: WorkspaceKeys

  constructor(table: JournalTable, keys: WorkspaceKeys) {
    this.#table = table
    this.#keys = keys
  }

  /** In hex; made when there is none. */
  async publicKey(workspace: string): Promise<string> {
    return (await this.#find(workspace)).publicKey
  }

  /** The signature in hex. */
  async sign(workspace: string, text: string): Promise<string> {
    const { publicKey, wrapped } = await this.#find(workspace)
    return this.#keys.use(workspace, (workspaceKey) =>
      wiping(decrypt(workspaceKey, wrapped, place(workspace, publicKey)), (der) => {
        const key = createPrivateKey({ key: Buffer.from(der), format: 'der', type: 'pkcs8' })
        return sign(null, Buffer.from(text), key).toString('hex')
      }),
    )
  }

  async #find(workspace: string): Promise<StoredJournalKey> {
    const known = await this.#table.findKey(workspace)
    if (known) return known
    const made = generateKeyPairSync('ed25519')
    const der = made.publicKey.export({ format: 'der', type: 'spki' })
    const publicKey = der.subarray(publicPrefix.length).toString('hex')
    const wrapped = await this.#keys.use(workspace, (key) =>
      wiping(made.privateKey.export({ format: 'der', type: 'pkcs8' }), (secret) =>
        encrypt(key, secret, place(workspace, publicKey)),
      ),
    )
    await this.#table.createKey(workspace, { publicKey, wrapped })
    // When two are stored at once, the first one counts.
    return (await this.#table.findKey(workspace))!
  }
}

function place(
  workspace: string,
  publicKey: string,
): readonly [what: string, workspace: string, publicKey: string] {
  return ['journal key', workspace, publicKey]
}

function readPublicKey(hex: string): KeyObject | undefined {
  const bytes = Buffer.from(hex, 'hex')
  if (bytes.length !== 32) return undefined
  return createPublicKey({
    key: Buffer.concat([publicPrefix, bytes]),
    format: 'der',
    type: 'spki',
  })
}
