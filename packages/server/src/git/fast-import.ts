import { createHash } from 'node:crypto'
import {
  type Extent,
  type Snapshot,
  type Stores,
  type Time,
  TreeView,
  type View,
} from '@cairn/core'
import { type ByteString, type Name, rootIno } from '@cairn/protocol'
import { planRead, sendExtents } from '../files/send.ts'
import { walkFrom } from '../files/walk.ts'

/** A commit to make. */
export interface CommitPlan {
  readonly ref: string
  readonly snapshot: Snapshot
  /** Ids of commits, or marks as `:7`. */
  readonly parents: readonly string[]
  readonly actor: string
  readonly time: Time
  readonly message: string
}

interface TreeLine {
  readonly path: readonly Name[]
  /** Absent for what git cannot hold. */
  readonly mode?: string
  /** Names the content. */
  readonly key?: string
  readonly extents?: readonly Extent[]
  readonly size?: number
  readonly bytes?: Uint8Array
}

const readAtOnce = 100
const fileBytesMax = 4 * 2 ** 30
/** A larger file that is mostly holes is left out. */
const sparseBytesMax = 1 << 20

/** Writes a stream for `git fast-import`. Content that git has is named, not sent. */
export class ImportStream {
  readonly #stores: Stores
  /** What a content is in git: an id, or a mark of this stream. */
  readonly #known: Map<string, string>
  #marks = 0
  /** Contents that this stream has sent, by their marks. */
  readonly sent: Map<string, string> = new Map()

  constructor(stores: Stores, known: Map<string, string>) {
    this.#stores = stores
    this.#known = known
  }

  /** Gives the mark of the commit. */
  async *commit(plan: CommitPlan): AsyncGenerator<Uint8Array, string> {
    const lines: string[] = []
    for await (const line of this.#walk(plan.snapshot)) {
      if (line.mode === undefined) continue
      if (!this.#known.has(line.key!)) yield* this.#blob(line)
      lines.push(`M ${line.mode} ${this.#known.get(line.key!)} ${quote(line.path.join('/'))}\n`)
    }
    const mark = this.#newMark()
    const message = Buffer.from(plan.message)
    const [from, ...merged] = plan.parents
    const who = `${plan.actor.replace(/[<>\n]/g, ' ').trim() || 'cairn'} <cairn@localhost>`
    const head = [
      `commit ${plan.ref}\nmark ${mark}\n`,
      `committer ${who} ${Math.max(0, plan.time.sec)} +0000\ndata ${message.length}\n`,
    ]
    yield Buffer.concat([Buffer.from(head.join('')), message, Buffer.from('\n')])
    if (from !== undefined) yield Buffer.from(`from ${from}\n`)
    for (const one of merged) yield Buffer.from(`merge ${one}\n`)
    yield Buffer.from('deleteall\n')
    // In bytes: names need not be UTF-8.
    yield Buffer.from(lines.join(''), 'latin1')
    yield Buffer.from('\n')
    return mark
  }

  #newMark(): string {
    return `:${++this.#marks}`
  }

  async *#blob({ key, extents = [], size = 0, bytes }: TreeLine): AsyncGenerator<Uint8Array> {
    const mark = this.#newMark()
    yield Buffer.from(`blob\nmark ${mark}\ndata ${size}\n`)
    if (bytes) yield bytes
    else yield* sendExtents(extents, this.#stores.blobs)
    yield Buffer.from('\n')
    this.#known.set(key!, mark)
    this.sent.set(mark, key!)
  }

  async *#walk(snapshot: Snapshot): AsyncGenerator<TreeLine> {
    const { nodes } = this.#stores
    for (let after: readonly Name[] = []; ;) {
      const met = await nodes.read(() => {
        const view = new TreeView(nodes, snapshot)
        return walkFrom(view, rootIno, after, readAtOnce).map(({ ino, path }) =>
          lineOf(view, ino, path),
        )
      })
      yield* met
      if (met.length < readAtOnce) return
      after = met.at(-1)!.path
      if (nodes.pacer.isDue()) await nodes.pacer.rest()
    }
  }
}

function lineOf(view: View, ino: Parameters<View['inode']>[0], path: readonly Name[]): TreeLine {
  const inode = view.inode(ino)!
  const { kind, size, target } = inode
  // Git refuses such names: they would be a repository inside of a tree.
  if (path.some((name) => name.toLowerCase() === '.git')) return { path }
  if (kind === 'symlink') {
    const bytes = target!
    return { path, mode: '120000', key: keyOf([bytes]), bytes, size: bytes.length }
  }
  if (kind !== 'file') return { path }
  const extents = planRead(view, ino, inode, 0, size)
  if (!isForGit(size, extents)) return { path }
  const mode = (inode.mode & 0o100) === 0 ? '100644' : '100755'
  return { path, mode, key: keyOfExtents(size, extents), extents, size }
}

/** Git writes every zero of a hole: one byte behind 16 TiB would take days, and each export would begin again. */
function isForGit(size: number, extents: readonly Extent[]): boolean {
  const isReal = ({ source }: Extent): boolean => source !== undefined
  const bytes = extents.filter(isReal).reduce((sum, { length }) => sum + length, 0)
  return size <= sparseBytesMax || (size <= fileBytesMax && 2 * bytes >= size)
}

/** Equal keys mean equal bytes: blobs are named by hashes of their content. */
function keyOfExtents(size: number, extents: readonly Extent[]): string {
  const parts: (string | Uint8Array)[] = [`${size}`]
  for (const { offset, length, source } of extents) {
    parts.push(`|${offset},${length},`)
    if (source === undefined) continue
    if (source.type === 'bytes') parts.push(source.bytes)
    else parts.push(`${source.start},`, Buffer.from(source.id, 'latin1'))
  }
  return keyOf(parts)
}

function keyOf(parts: readonly (string | Uint8Array)[]): string {
  const hash = createHash('sha256')
  for (const part of parts) hash.update(part)
  return hash.digest('hex')
}

/** As git quotes paths; bytes that are no ASCII stay as they are. */
function quote(path: ByteString): string {
  if (!/["\\\n]/.test(path) && !path.startsWith('"')) return path
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}
