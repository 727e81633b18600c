import type { Time } from '@cairn/core'
import { type ByteString, equalBytes, FsError, fromByteString, toByteString } from '@cairn/protocol'
import type { Attributes, Entry, FillListing, FuseFileSystem } from '../fuse/file-system.ts'

export interface ListedSecret {
  readonly name: string
  readonly fields: readonly string[]
}

/** Where secrets come from. Rejects with an error that has an errno, as all of ours do. */
export interface VaultSource {
  /** Those that may be seen. */
  list(): Promise<readonly ListedSecret[]>
  read(secret: string, field: string): Promise<Uint8Array>
}

interface Node {
  readonly id: number
  readonly secret?: string
  readonly field?: string
  /** The value of a field at the time of its first lookup. */
  value?: Uint8Array
  /** How often the kernel was told of it. */
  lookups: number
}

const rootNode = 1
const seekData = 3
/** A walk along a path asks for the same directory several times. */
const listMs = 500

/**
 * Secrets as directories, fields as files, to be read by their owner alone. The kernel may remember nothing: each look
 * at a field fetches it, so that a revoked grant is felt by the next one. What was opened stays as it was.
 */
export class VaultFileSystem implements FuseFileSystem {
  readonly #source: VaultSource
  readonly #now: () => Time
  readonly #nodes = new Map<number, Node>([[rootNode, { id: rootNode, lookups: 1 }]])
  readonly #byName = new Map<string, Node>()
  #lastNode = rootNode
  #listed:
    | { readonly secrets: Promise<readonly ListedSecret[]>; readonly untilMs: number }
    | undefined

  constructor(source: VaultSource, now: () => Time) {
    this.#source = source
    this.#now = now
  }

  async lookup(parent: number, name: ByteString): Promise<Entry | undefined> {
    const { secret, field } = this.#get(parent)
    if (field !== undefined) throw new FsError('ENOTDIR')
    const text = Buffer.from(fromByteString(name)).toString()
    const secrets = await this.#list()
    if (secret === undefined)
      return secrets.some((each) => each.name === text) ? this.#enter(text) : undefined
    if (!secrets.some((each) => each.name === secret && each.fields.includes(text)))
      return undefined
    return this.#enterValue(secret, text, await this.#source.read(secret, text))
  }

  forget(nodeid: number, count: number): void {
    const node = this.#nodes.get(nodeid)
    if (!node || nodeid === rootNode) return
    node.lookups -= count
    if (node.lookups > 0) return
    node.value?.fill(0)
    this.#nodes.delete(nodeid)
    if (this.#byName.get(keyOf(node)) === node) this.#byName.delete(keyOf(node))
  }

  getattr(nodeid: number): { attributes: Attributes; ttl: number } {
    return { attributes: this.#attributes(this.#get(nodeid)), ttl: 0 }
  }

  read(nodeid: number, offset: number, size: number): Uint8Array {
    const { value } = this.#get(nodeid)
    if (!value) throw new FsError('EIO')
    return value.subarray(offset, offset + size)
  }

  async readdir(nodeid: number, offset: number, fill: FillListing): Promise<void> {
    const { secret } = this.#get(nodeid)
    const secrets = await this.#list()
    const names =
      secret === undefined
        ? secrets.map(({ name }) => name)
        : (secrets.find(({ name }) => name === secret)?.fields ?? [])
    for (const [index, name] of names.entries()) {
      const position = index + 3
      if (position <= offset) continue
      const entry = secret === undefined ? this.#enter(name) : this.#enter(secret, name)
      if (fill(toByteString(Buffer.from(name)), position, entry)) continue
      this.forget(entry.nodeid, 1)
      return
    }
  }

  dots(nodeid: number): { self: number; parent: number } {
    return { self: nodeid, parent: rootNode }
  }

  lseek(nodeid: number, offset: number, whence: number): number {
    const size = this.#get(nodeid).value?.length ?? 0
    if (offset >= size) throw new FsError('ENXIO')
    return whence === seekData ? offset : size
  }

  statfs(): ReturnType<FuseFileSystem['statfs']> {
    return {
      blocks: 0,
      free: 0,
      files: this.#nodes.size,
      filesFree: 0,
      blockSize: 4096,
      nameMax: 255,
    }
  }

  getxattr(): undefined {
    return undefined
  }

  listxattr(): readonly ByteString[] {
    return []
  }

  readlink(): never {
    throw new FsError('EINVAL')
  }

  fsync(): void {}

  fsyncdir(): void {}

  destroy(): void {
    for (const { value } of this.#nodes.values()) value?.fill(0)
  }

  readonly setattr: () => never = refuse
  readonly mknod: () => never = refuse
  readonly mkdir: () => never = refuse
  readonly symlink: () => never = refuse
  readonly link: () => never = refuse
  readonly unlink: () => never = refuse
  readonly rmdir: () => never = refuse
  readonly rename: () => never = refuse
  readonly create: () => never = refuse
  readonly write: () => never = refuse
  readonly fallocate: () => never = refuse
  readonly copyFileRange: () => never = refuse
  readonly setxattr: () => never = refuse
  readonly removexattr: () => never = refuse

  #get(nodeid: number): Node {
    const node = this.#nodes.get(nodeid)
    if (node) return node
    throw new FsError('ESTALE')
  }

  /** One node for a name: the kernel asks again each time, and must find the same file. */
  #enter(secret: string, field?: string): Entry {
    const key = keyOf({ secret, ...(field === undefined ? {} : { field }) })
    let node = this.#byName.get(key)
    if (!node) {
      node = { id: ++this.#lastNode, secret, ...(field === undefined ? {} : { field }), lookups: 0 }
      this.#byName.set(key, node)
      this.#nodes.set(node.id, node)
    }
    node.lookups++
    return { nodeid: node.id, attributes: this.#attributes(node), ttl: 0 }
  }

  /**
   * Another value is another file: the kernel has pages of the old one, and a program may have it
   * open.
   */
  #enterValue(secret: string, field: string, value: Uint8Array): Entry {
    const key = keyOf({ secret, field })
    const known = this.#byName.get(key)?.value
    if (known && !equalBytes(known, value)) this.#byName.delete(key)
    const { nodeid } = this.#enter(secret, field)
    const node = this.#get(nodeid)
    node.value = value
    return { nodeid, attributes: this.#attributes(node), ttl: 0 }
  }

  #list(): Promise<readonly ListedSecret[]> {
    const nowMs = performance.now()
    if (this.#listed && this.#listed.untilMs > nowMs) return this.#listed.secrets
    const secrets = this.#source.list()
    this.#listed = { secrets, untilMs: nowMs + listMs }
    // One that failed is asked again.
    secrets.catch(() => (this.#listed = undefined))
    return secrets
  }

  #attributes({ id, field, value }: Node): Attributes {
    const time = this.#now()
    const size = value?.length ?? 0
    return {
      ino: id,
      mode: field === undefined ? 0o040500 : 0o100400,
      nlink: field === undefined ? 2 : 1,
      uid: process.getuid?.() ?? 0,
      gid: process.getgid?.() ?? 0,
      rdev: 0,
      size,
      blocks: Math.ceil(size / 512),
      atime: time,
      mtime: time,
      ctime: time,
    }
  }
}

function keyOf({ secret = '', field }: Pick<Node, 'secret' | 'field'>): string {
  return field === undefined ? secret : `${secret}/${field}`
}

function refuse(): never {
  throw new FsError('EROFS')
}
