import { createHmac, randomBytes } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { mkdir, rename, rm, stat } from 'node:fs/promises'
import type { IncomingMessage } from 'node:http'
import { join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { ApiError } from '../api-error.ts'
import { isEqual } from '../envd/signature.ts'

/** Archives that COPY steps take their files from, by the hash that the SDK gave them. */
export class BuildFiles {
  readonly #directory: string
  /** Uploads carry no key: the address itself says that it was given out. */
  readonly #secret = randomBytes(32)

  constructor(directory: string) {
    this.#directory = directory
  }

  async has(hash: string): Promise<boolean> {
    const found = await stat(this.path(hash)).catch(() => undefined)
    return found !== undefined
  }

  uploadPath(hash: string): string {
    return `/template-files/${hash}?grant=${this.#grant(hash)}`
  }

  path(hash: string): string {
    if (!/^[0-9a-f]{64}$/.test(hash)) throw new ApiError(400, `'${hash}' is not a hash`)
    return join(this.#directory, hash)
  }

  async store(hash: string, grant: string, request: IncomingMessage): Promise<void> {
    if (!isEqual(grant, this.#grant(hash))) throw new ApiError(403, 'the address is not good')
    const path = this.path(hash)
    const draft = `${path}.${randomBytes(4).toString('hex')}`
    await mkdir(this.#directory, { recursive: true, mode: 0o700 })
    try {
      await pipeline(request, createWriteStream(draft, { mode: 0o600 }))
      await rename(draft, path)
    } finally {
      await rm(draft, { force: true })
    }
  }

  #grant(hash: string): string {
    return createHmac('sha256', this.#secret).update(hash).digest('hex')
  }
}
