import type { Stores, Time } from '@cairn/core'
import type { ByteString } from '@cairn/protocol'
import { sendExtents } from '../files/send.ts'
import { type ShownTree, type TreeLine, treeLines } from './tree-lines.ts'

/** A commit to make. */
export interface CommitPlan {
  readonly ref: string
  readonly tree: ShownTree
  /** Ids of commits, or marks as `:7`. */
  readonly parents: readonly string[]
  readonly actor: string
  readonly time: Time
  readonly message: string
}

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
    for await (const line of treeLines(this.#stores, plan.tree)) {
      if (!this.#known.has(line.key)) yield* this.#blob(line)
      lines.push(`M ${line.mode} ${this.#known.get(line.key)} ${quote(line.path)}\n`)
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

  async *#blob({ key, content, size }: TreeLine): AsyncGenerator<Uint8Array> {
    const mark = this.#newMark()
    yield Buffer.from(`blob\nmark ${mark}\ndata ${size}\n`)
    if (content instanceof Uint8Array) yield content
    else yield* sendExtents(content, this.#stores.blobs)
    yield Buffer.from('\n')
    this.#known.set(key, mark)
    this.sent.set(mark, key)
  }
}

/** As git quotes paths; bytes that are no ASCII stay as they are. */
function quote(path: ByteString): string {
  if (!/["\\\n]/.test(path) && !path.startsWith('"')) return path
  return `"${path.replace(/["\\]/g, '\\$&').replaceAll('\n', '\\n')}"`
}
