import {
  type Batch,
  type Branch,
  lineBytes,
  namesOf,
  pathOf,
  sessionIds,
  type View,
} from '@cairn/core'
import {
  type Blame,
  type BlameOrigin,
  type BlamePart,
  type BranchId,
  type ByteString,
  FsError,
  type Ino,
  type Name,
  rootIno,
} from '@cairn/protocol'
import { spellPath } from '../files/spelling.ts'
import type { LayerRecord } from '../ports/layer-store.ts'
import type { Point } from '../points/references.ts'
import { isoTime, millisecondsOf } from '../ports/clock.ts'
import type { Branches } from '../workspaces/branches.ts'
import { isGone, walkHistory } from './history-walk.ts'
import {
  carryOrigins,
  type ContentLines,
  type FileVersion,
  newVersion,
  type Origin,
} from './line-origins.ts'
import { readForBlame } from './read-for-blame.ts'

/** Changes of one writer that follow each other sooner are one: a mount sends a long write in many batches. */
const runMs = 1000

/** Who had changed each line of a file last by then; of a file that had gone, as it was. Throws ENOENT where there never was one. */
export async function blame(
  workspace: Branches,
  point: Point,
  path: ByteString,
  gone?: AbortSignal,
): Promise<Blame> {
  const walk = new BlameWalk(workspace, namesOf(path), point, gone)
  const history = await walk.history(point.branch)
  const last = history.versions.at(-1)?.version
  if (!last) throw new FsError('ENOENT')
  return describeBlame(path, last, history.deleted)
}

/** A state of a file, and the batch that brought it about. */
interface Noted {
  readonly seq: number
  readonly timeMs: number
  readonly version: FileVersion
}

interface History {
  /** Versions of the file at the path. */
  readonly versions: Noted[]
  /** Versions of each inode that was ever there, wherever it was then. */
  readonly byIno: Map<Ino, Noted[]>
  /** Set while the file is not there. */
  deleted: Origin
}

/** What another branch had of an inode when it came from there. */
type Brought = (ino: Ino) => FileVersion | undefined

/** The histories of one path, on as many branches as it came by. */
class BlameWalk {
  readonly #workspace: Branches
  readonly #names: readonly Name[]
  /** What was asked about: entries of its branch name no layer, and end there. */
  readonly #asked: Point
  readonly #gone: AbortSignal | undefined
  /** A layer begins where its parent stood: what is known of that up to there is known already. */
  readonly #histories = new Map<BranchId, History>()

  constructor(
    workspace: Branches,
    names: readonly Name[],
    asked: Point,
    gone: AbortSignal | undefined,
  ) {
    this.#workspace = workspace
    this.#gone = gone
    this.#names = names
    this.#asked = asked
  }

  /** One that is being walked is given as far as it is: a layer asks for what came before it. */
  async history(branch: Branch, also: Iterable<Ino> = []): Promise<History> {
    const known = this.#histories.get(branch.id)
    if (known) return known
    const history: History = { versions: [], byIno: new Map(), deleted: undefined }
    this.#histories.set(branch.id, history)
    const record = await this.#workspace.layers.findByBranch(branch.id)
    const wanted = await this.#findInodes(branch, also)
    const parent = record && (await this.#parentOf(record, wanted))
    const isBefore = ({ seq }: Noted): boolean => seq <= (record?.originSeq ?? 0)
    await new BranchBlame(this.#workspace, this.#names, history, {
      wanted,
      until: this.#untilOf(branch),
      gone: this.#gone,
      atPath: parent?.versions.findLast(isBefore)?.version,
      base: (ino) => parent?.byIno.get(ino)?.findLast(isBefore)?.version,
      originOf: (batch) => this.#originOf(batch, record),
      brought: (batch, view) => this.#brought(batch, record, wanted, view),
    }).run(branch)
    return history
  }

  #untilOf({ id }: Branch): number | undefined {
    return id === this.#asked.branch.id ? this.#asked.seq : undefined
  }

  async #parentOf({ parent }: LayerRecord, wanted: Iterable<Ino>): Promise<History | undefined> {
    const opened = await this.#workspace.branch(parent).catch(() => undefined)
    return opened && this.history(opened, wanted)
  }

  async #brought(
    { body, time }: Batch,
    record: LayerRecord | undefined,
    wanted: ReadonlySet<Ino>,
    view: View,
  ): Promise<Brought> {
    if (body.type !== 'root') return () => undefined
    const { cause, subject } = body.change
    if (cause === 'commit') return this.#committed(subject as BranchId, wanted, view)
    if (cause !== 'rebase' || !record) return () => undefined
    const parent = await this.#parentOf(record, wanted)
    const isBefore = ({ timeMs }: Noted): boolean => timeMs <= millisecondsOf(time)
    return (ino) => parent?.byIno.get(ino)?.findLast(isBefore)?.version
  }

  /** A file that a layer saved by rename has another number there: it is found by its path. */
  async #committed(layer: BranchId, wanted: ReadonlySet<Ino>, view: View): Promise<Brought> {
    const record = await this.#workspace.layers.findByBranch(layer)
    if (!record) return () => undefined
    const opened = await this.#workspace.openBranch(record.branch)
    const there = new Map<Ino, Ino>()
    for (const ino of wanted) {
      const names = await readNodes(this.#workspace, () => pathOf(view, ino))
      const found = names && (await findIno(this.#workspace, opened.head.view, names))
      there.set(ino, found ?? ino)
    }
    const { byIno } = await this.history(opened, there.values())
    return (ino) => byIno.get(there.get(ino) ?? ino)?.at(-1)?.version
  }

  #originOf(batch: Batch, record: LayerRecord | undefined): BlameOrigin {
    const { seq, actor, time, body } = batch
    const layer = record && batch.branch !== this.#asked.branch.id ? { layer: record.id } : {}
    const op = body.type === 'root' ? body.change.cause : 'write'
    return {
      seq,
      ...layer,
      time: isoTime(time),
      actor,
      ...sessionIds.originOf(batch),
      op,
    }
  }

  /** Every inode that was ever there, those that were copied into them, and those in whose place they came. */
  async #findInodes(branch: Branch, also: Iterable<Ino>): Promise<ReadonlySet<Ino>> {
    const inodes = new Set(also)
    const older: { readonly from: Ino; readonly to: Ino }[] = []
    const options = { until: this.#untilOf(branch), gone: this.#gone }
    for await (const { batch, views } of walkHistory(this.#workspace, branch, options)) {
      if (batch.body.type === 'ops')
        for (const op of batch.body.ops)
          if (op.type === 'copy') older.push({ from: op.from, to: op.ino })
      if (!views) continue
      older.push(...(await findReplaced(this.#workspace, batch, views)))
      for (const view of [views.before, views.after]) {
        const ino = await findIno(this.#workspace, view, this.#names)
        if (ino !== undefined) inodes.add(ino)
      }
    }
    for (const { from, to } of older.toReversed()) if (inodes.has(to)) inodes.add(from)
    return inodes
  }
}

interface Sources {
  readonly wanted: ReadonlySet<Ino>
  /** The last batch that counts; the newest where it is undefined. */
  readonly until: number | undefined
  readonly gone: AbortSignal | undefined
  /** What a layer found at the path when it was made, and of each inode. */
  readonly atPath: FileVersion | undefined
  readonly base: Brought
  readonly originOf: (batch: Batch) => BlameOrigin
  readonly brought: (batch: Batch, view: View) => Promise<Brought>
}

/** A file that was changed and not looked at yet. */
interface Dirty {
  readonly origin: BlameOrigin
  readonly batch: Batch
}

/** The history of a path on one branch. */
class BranchBlame {
  readonly #workspace: Branches
  readonly #names: readonly Name[]
  readonly #history: History
  readonly #sources: Sources
  readonly #own = new Map<Ino, FileVersion>()
  readonly #dirty = new Map<Ino, Dirty>()
  #ino: Ino | undefined
  #current: FileVersion | undefined

  constructor(workspace: Branches, names: readonly Name[], history: History, sources: Sources) {
    this.#workspace = workspace
    this.#names = names
    this.#history = history
    this.#sources = sources
    this.#current = sources.atPath
  }

  async run(branch: Branch): Promise<void> {
    const { wanted, until, atPath, gone } = this.#sources
    const options = { hasContent: (ino: Ino): boolean => wanted.has(ino), until, gone }
    let last: View | undefined
    for await (const { batch, views } of walkHistory(this.#workspace, branch, options)) {
      if (!views) continue
      if (!last) await this.#begin(batch, views.before)
      for (const [ino, dirty] of this.#dirty)
        if (!isSameRun(dirty.batch, batch)) await this.#look(views.before, ino, dirty)
      if (batch.body.type === 'root') await this.#takeRoot(batch, views.after)
      else await this.#takeOps(batch, views)
      last = views.after
    }
    if (last) for (const [ino, dirty] of this.#dirty) await this.#look(last, ino, dirty)
    // Nothing happened on the layer: it has what it began with.
    if (atPath && this.#history.versions.length === 0 && !this.#history.deleted)
      this.#history.versions.push({ seq: 0, timeMs: 0, version: atPath })
  }

  /** What is there at first came from the parent, or from before the log. */
  async #begin(batch: Batch, view: View): Promise<void> {
    this.#ino = await findIno(this.#workspace, view, this.#names)
    for (const ino of this.#sources.wanted) {
      if (!(await this.#has(view, ino))) continue
      const inherited = ino === this.#ino ? this.#sources.atPath : undefined
      const known = this.#sources.base(ino) ?? inherited
      this.#setOwn(batch, ino, known ?? newVersion(await this.#read(view, ino), undefined))
    }
  }

  async #takeOps(
    batch: Batch,
    views: { readonly before: View; readonly after: View },
  ): Promise<void> {
    if (batch.body.type !== 'ops') return
    const origin = this.#sources.originOf(batch)
    for (const op of batch.body.ops)
      if ('ino' in op && changesContent.has(op.type) && this.#sources.wanted.has(op.ino))
        this.#dirty.set(op.ino, { origin, batch })
    for (const { from, to } of await findReplaced(this.#workspace, batch, views)) {
      await this.#lookAll(views.after)
      const own = this.#own.get(to)
      if (own) this.#setOwn(batch, to, await carryOrigins(this.#own.get(from), own))
    }
    const ino = await findIno(this.#workspace, views.after, this.#names)
    if (ino === this.#ino) return
    await this.#lookAll(views.after)
    await this.#arrive(batch, views.after, ino, origin)
  }

  /** Something else is at the path now, or nothing. */
  async #arrive(batch: Batch, view: View, ino: Ino | undefined, origin: Origin): Promise<void> {
    this.#ino = ino
    this.#history.deleted = ino === undefined ? origin : undefined
    if (ino === undefined) {
      this.#current = undefined
      return
    }
    const own = this.#own.get(ino) ?? newVersion(await this.#read(view, ino), origin)
    this.#note(batch, ino, await carryOrigins(this.#current, own))
  }

  async #lookAll(view: View): Promise<void> {
    for (const [ino, dirty] of this.#dirty) await this.#look(view, ino, dirty)
  }

  /** A file's bytes were changed: that batch is the author of the new lines. */
  async #look(view: View, ino: Ino, { origin, batch }: Dirty): Promise<void> {
    this.#dirty.delete(ino)
    const fresh = newVersion(await this.#read(view, ino), origin)
    const version = await carryOrigins(this.#own.get(ino), fresh)
    if (ino === this.#ino) this.#note(batch, ino, version)
    else this.#setOwn(batch, ino, version)
  }

  /** Everything may be another: each file is compared with what it was, and with what it came from. */
  async #takeRoot(batch: Batch, view: View): Promise<void> {
    const origin = this.#sources.originOf(batch)
    const brought = await this.#sources.brought(batch, view)
    for (const ino of this.#sources.wanted) {
      if (!(await this.#has(view, ino))) {
        this.#own.delete(ino)
        continue
      }
      const content = await this.#read(view, ino)
      const old = this.#own.get(ino)
      if (content && old?.content?.hash === content.hash) continue
      const fresh = await carryOrigins(brought(ino), newVersion(content, origin))
      this.#setOwn(batch, ino, await carryOrigins(old, fresh))
    }
    const ino = await findIno(this.#workspace, view, this.#names)
    if (ino !== this.#ino) return this.#arrive(batch, view, ino, origin)
    const own = ino === undefined ? undefined : this.#own.get(ino)
    if (ino !== undefined && own && own !== this.#current) this.#note(batch, ino, own)
  }

  /** Notes a version of the file that is at the path. */
  #note(batch: Batch, ino: Ino, version: FileVersion): void {
    this.#setOwn(batch, ino, version)
    this.#current = version
    this.#history.versions.push(noted(batch, version))
  }

  #setOwn(batch: Batch, ino: Ino, version: FileVersion): void {
    this.#own.set(ino, version)
    const { byIno } = this.#history
    const list = byIno.get(ino)
    if (list) list.push(noted(batch, version))
    else byIno.set(ino, [noted(batch, version)])
  }

  async #has(view: View, ino: Ino): Promise<boolean> {
    return (await readNodes(this.#workspace, () => view.inode(ino)?.content)) !== undefined
  }

  async #read(view: View, ino: Ino): Promise<ContentLines | undefined> {
    try {
      return await readForBlame(this.#workspace.stores, view, ino)
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }
}

function noted({ seq, time }: Batch, version: FileVersion): Noted {
  return { seq, timeMs: millisecondsOf(time), version }
}

const changesContent = new Set(['write', 'append', 'fallocate', 'copy', 'setattr'])

function isSameRun(a: Batch, b: Batch): boolean {
  const isOfOne = a.actor === b.actor && a.session === b.session && a.toolCall === b.toolCall
  const isSame = isOfOne && b.body.type === 'ops'
  return isSame && millisecondsOf(b.time) - millisecondsOf(a.time) < runMs
}

/** Which files came in whose place: a save by rename goes on where the file before it ended. */
async function findReplaced(
  { stores }: Pick<Branches, 'stores'>,
  { body }: Batch,
  { before, after }: { readonly before: View; readonly after: View },
): Promise<{ readonly from: Ino; readonly to: Ino }[]> {
  const renames = body.type === 'ops' ? body.ops.filter((op) => op.type === 'rename') : []
  if (renames.length === 0) return []
  return stores.nodes.read(() =>
    renames.flatMap(({ newParent, newName }) => {
      const [from, to] = [before, after].map((view) => view.child(newParent, newName)?.ino)
      return from === undefined || to === undefined || from === to ? [] : [{ from, to }]
    }),
  )
}

/** The file at a path, without following symlinks. */
function findIno(
  workspace: Branches,
  view: View,
  names: readonly Name[],
): Promise<Ino | undefined> {
  return readNodes(workspace, () => {
    let at: { readonly ino: Ino; readonly kind: string } = { ino: rootIno, kind: 'directory' }
    for (const name of names) {
      const child = at.kind === 'directory' ? view.child(at.ino, name) : undefined
      if (!child) return undefined
      at = child
    }
    return at.kind === 'file' ? at.ino : undefined
  })
}

/** Undefined also where trees are gone. */
async function readNodes<T>(
  { stores }: Pick<Branches, 'stores'>,
  read: () => T | undefined,
): Promise<T | undefined> {
  try {
    return await stores.nodes.read(read)
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function describeBlame(path: ByteString, version: FileVersion, deleted: Origin): Blame {
  const { content, lines, whole } = version
  const origins: BlameOrigin[] = []
  const indexOf = (origin: Origin): { origin?: number } => {
    if (!origin) return {}
    const known = origins.findIndex((each) => each === origin)
    return { origin: known >= 0 ? known : origins.push(origin) - 1 }
  }
  const parts: BlamePart[] = []
  for (let line = 0; lines && line < lines.count;) {
    const origin = version.origins[line]
    let end = line + 1
    while (end < lines.count && version.origins[end] === origin) end++
    const text = Buffer.from(lineBytes(lines, line, end - line)).toString()
    parts.push({ line: line + 1, count: end - line, text, ...indexOf(origin) })
    line = end
  }
  if (!lines) parts.push(indexOf(whole))
  return {
    ...(spellPath('path', namesOf(path)) as { path: string }),
    kind: lines ? 'text' : 'binary',
    size: content?.size ?? 0,
    origins,
    parts,
    ...(deleted ? { deleted } : {}),
  }
}
