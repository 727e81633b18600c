import { type Batch, type Branch, lineBytes, readFile, type View } from '@cairn/core'
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
import { namesOf } from '../layers/guard.ts'
import type { LayerRecord } from '../layers/layer-store.ts'
import { isoTime, millisecondsOf } from '../workspaces/clock.ts'
import type { Workspace } from '../workspaces/workspace.ts'
import { isGone, walkHistory } from './history-walk.ts'
import { carryOrigins, type FileVersion, newVersion, type Origin } from './line-origins.ts'
import { splitSession } from './tool-calls.ts'

/** Changes of one writer that follow each other sooner are one: a mount sends a long write in many batches. */
const runMs = 1000

/** Who changed each line of a file last; of a file that has gone, as it was. Throws ENOENT where there never was one. */
export async function blame(
  workspace: Workspace,
  branch: Branch,
  path: ByteString,
): Promise<Blame> {
  const walk = new BlameWalk(workspace, namesOf(path), branch.id)
  const history = await walk.history(branch)
  const last = history.versions.at(-1)?.version
  if (!last) throw new FsError('ENOENT')
  return describeBlame(path, last, history.deleted)
}

interface History {
  /** Each state of the file, and the batch that brought it about. */
  readonly versions: {
    readonly seq: number
    readonly timeMs: number
    readonly version: FileVersion
  }[]
  /** Set while the file is not there. */
  deleted: Origin
}

/** A file that was changed and not looked at yet. */
interface Dirty {
  readonly origin: BlameOrigin
  readonly batch: Batch
}

/** The histories of one path, on as many branches as it came by. */
class BlameWalk {
  readonly #workspace: Workspace
  readonly #names: readonly Name[]
  /** The one that was asked about: its entries name no layer. */
  readonly #asked: BranchId
  /** A layer begins where its parent stood: what is known of that up to there is known already. */
  readonly #histories = new Map<BranchId, History>()

  constructor(workspace: Workspace, names: readonly Name[], asked: BranchId) {
    this.#workspace = workspace
    this.#names = names
    this.#asked = asked
  }

  /** One that is being walked is given as far as it is: a layer asks for what came before it. */
  async history(branch: Branch): Promise<History> {
    const known = this.#histories.get(branch.id)
    if (known) return known
    const history: History = { versions: [], deleted: undefined }
    this.#histories.set(branch.id, history)
    const record = await this.#workspace.layers.findByBranch(branch.id)
    const base = record && (await this.#parentVersion(record, record.originSeq))
    const wanted = await this.#findInodes(branch)
    await new BranchBlame(this.#workspace, this.#names, history, {
      base,
      originOf: (batch) => this.#originOf(batch, record),
      versionOfCommit: (batch) => this.#committed(batch),
      versionOfRebase: (batch) => record && this.#parentVersion(record, undefined, batch),
    }).run(branch, wanted)
    return history
  }

  /** Of the parent, at a place in its log or at the time of a batch. */
  async #parentVersion(
    { parent }: LayerRecord,
    seq: number | undefined,
    at?: Batch,
  ): Promise<FileVersion | undefined> {
    const opened = await this.#workspace.branch(parent).catch(() => undefined)
    if (!opened) return undefined
    const { versions } = await this.history(opened)
    const isBefore = at
      ? (each: { timeMs: number }) => each.timeMs <= millisecondsOf(at.time)
      : (each: { seq: number }) => each.seq <= (seq ?? Infinity)
    return versions.findLast(isBefore)?.version
  }

  /** What the layer had that a commit brought in. */
  async #committed({ body }: Batch): Promise<FileVersion | undefined> {
    if (body.type !== 'root') return undefined
    const record = await this.#workspace.layers.findByBranch(body.change.subject as BranchId)
    if (!record) return undefined
    const { versions, deleted } = await this.history(
      await this.#workspace.openBranch(record.branch),
    )
    return deleted ? undefined : versions.at(-1)?.version
  }

  #originOf(batch: Batch, record: LayerRecord | undefined): BlameOrigin {
    const { seq, actor, time, body } = batch
    const layer = record && batch.branch !== this.#asked ? { layer: record.id } : {}
    const op = body.type === 'root' ? body.change.cause : 'write'
    return { seq, ...layer, time: isoTime(time), actor, ...splitSession(batch.session), op }
  }

  /** Every inode that was ever there, those that were copied into them, and those in whose place they came. */
  async #findInodes(branch: Branch): Promise<ReadonlySet<Ino>> {
    const inodes = new Set<Ino>()
    const older: { readonly from: Ino; readonly to: Ino }[] = []
    for await (const { batch, views } of walkHistory(this.#workspace, branch)) {
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
  /** What a layer found there when it was made. */
  readonly base: FileVersion | undefined
  readonly originOf: (batch: Batch) => BlameOrigin
  readonly versionOfCommit: (batch: Batch) => Promise<FileVersion | undefined>
  readonly versionOfRebase: (batch: Batch) => Promise<FileVersion | undefined> | undefined
}

/** The history of a path on one branch. */
class BranchBlame {
  readonly #workspace: Workspace
  readonly #names: readonly Name[]
  readonly #history: History
  readonly #sources: Sources
  /** Of each inode that was ever there, wherever it was then. */
  readonly #own = new Map<Ino, FileVersion>()
  readonly #dirty = new Map<Ino, Dirty>()
  #ino: Ino | undefined
  #current: FileVersion | undefined

  constructor(workspace: Workspace, names: readonly Name[], history: History, sources: Sources) {
    this.#workspace = workspace
    this.#names = names
    this.#history = history
    this.#sources = sources
    this.#current = sources.base
  }

  async run(branch: Branch, wanted: ReadonlySet<Ino>): Promise<void> {
    const hasContent = (ino: Ino): boolean => wanted.has(ino)
    const { base } = this.#sources
    let isFirst = true
    let last: { batch: Batch; view: View } | undefined
    for await (const { batch, views } of walkHistory(this.#workspace, branch, { hasContent })) {
      if (!views) continue
      if (isFirst) this.#ino = await findIno(this.#workspace, views.before, this.#names)
      if (isFirst && this.#ino !== undefined && base) this.#own.set(this.#ino, base)
      isFirst = false
      for (const [ino, dirty] of this.#dirty)
        if (!isSameRun(dirty.batch, batch)) await this.#look(views.before, ino, dirty)
      if (batch.body.type === 'root') await this.#takeRoot(batch, views.after)
      else await this.#takeOps(batch, views, hasContent)
      last = { batch, view: views.after }
    }
    if (last) for (const [ino, dirty] of this.#dirty) await this.#look(last.view, ino, dirty)
    // Nothing happened on the layer: it has what it began with.
    if (base && this.#history.versions.length === 0 && !this.#history.deleted)
      this.#history.versions.push({ seq: 0, timeMs: 0, version: base })
  }

  async #takeOps(
    batch: Batch,
    views: { readonly before: View; readonly after: View },
    hasContent: (ino: Ino) => boolean,
  ): Promise<void> {
    if (batch.body.type !== 'ops') return
    const origin = this.#sources.originOf(batch)
    for (const op of batch.body.ops)
      if ('ino' in op && changesContent.has(op.type) && hasContent(op.ino))
        this.#dirty.set(op.ino, { origin, batch })
    for (const { from, to } of await findReplaced(this.#workspace, batch, views)) {
      for (const [each, dirty] of this.#dirty) await this.#look(views.after, each, dirty)
      const own = this.#own.get(to)
      if (own) this.#own.set(to, carryOrigins(this.#own.get(from), own))
    }
    const ino = await findIno(this.#workspace, views.after, this.#names)
    if (ino === this.#ino) return
    for (const [each, dirty] of this.#dirty) await this.#look(views.after, each, dirty)
    await this.#arrive(batch, views.after, ino, origin)
  }

  /** Something else is at the path now, or nothing. */
  async #arrive(batch: Batch, view: View, ino: Ino | undefined, origin: Origin): Promise<void> {
    this.#ino = ino
    if (ino === undefined) {
      this.#history.deleted = origin
      this.#current = undefined
      return
    }
    this.#history.deleted = undefined
    const own = this.#own.get(ino) ?? newVersion(await this.#read(view, ino), origin)
    this.#note(batch, ino, carryOrigins(this.#current, own))
  }

  /** A file's bytes were changed: whoever did it has the lines that are new. */
  async #look(view: View, ino: Ino, { origin, batch }: Dirty): Promise<void> {
    this.#dirty.delete(ino)
    const version = carryOrigins(
      this.#own.get(ino),
      newVersion(await this.#read(view, ino), origin),
    )
    this.#own.set(ino, version)
    if (ino === this.#ino) this.#note(batch, ino, version)
  }

  async #takeRoot(batch: Batch, view: View): Promise<void> {
    const origin = this.#sources.originOf(batch)
    const ino = await findIno(this.#workspace, view, this.#names)
    if (ino === undefined) {
      if (this.#ino !== undefined) await this.#arrive(batch, view, undefined, origin)
      return
    }
    const { body } = batch
    const cause = body.type === 'root' ? body.change.cause : undefined
    const brought =
      cause === 'commit'
        ? await this.#sources.versionOfCommit(batch)
        : cause === 'rebase'
          ? await this.#sources.versionOfRebase(batch)
          : undefined
    const fresh = carryOrigins(brought, newVersion(await this.#read(view, ino), origin))
    this.#ino = ino
    this.#history.deleted = undefined
    this.#note(batch, ino, carryOrigins(this.#current, fresh))
  }

  #note({ seq, time }: Batch, ino: Ino, version: FileVersion): void {
    this.#own.set(ino, version)
    this.#current = version
    this.#history.versions.push({ seq, timeMs: millisecondsOf(time), version })
  }

  async #read(view: View, ino: Ino): Promise<Uint8Array | undefined> {
    const { nodes, blobs } = this.#workspace.stores
    try {
      const inode = await nodes.read(() => view.inode(ino))
      return inode?.content && (await readFile(nodes, blobs, view, ino, inode))
    } catch (error) {
      if (isGone(error)) return undefined
      throw error
    }
  }
}

const changesContent = new Set(['write', 'append', 'fallocate', 'copy', 'setattr'])

function isSameRun(a: Batch, b: Batch): boolean {
  const isSame = a.actor === b.actor && a.session === b.session && b.body.type === 'ops'
  return isSame && millisecondsOf(b.time) - millisecondsOf(a.time) < runMs
}

/** Which files came in whose place: a save by rename goes on where the file before it ended. */
async function findReplaced(
  { stores }: Workspace,
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
async function findIno(
  { stores }: Workspace,
  view: View,
  names: readonly Name[],
): Promise<Ino | undefined> {
  try {
    return await stores.nodes.read(() => {
      let at: { readonly ino: Ino; readonly kind: string } = { ino: rootIno, kind: 'directory' }
      for (const name of names) {
        const child = at.kind === 'directory' ? view.child(at.ino, name) : undefined
        if (!child) return undefined
        at = child
      }
      return at.kind === 'file' ? at.ino : undefined
    })
  } catch (error) {
    if (isGone(error)) return undefined
    throw error
  }
}

function describeBlame(path: ByteString, version: FileVersion, deleted: Origin): Blame {
  const { bytes, lines, whole } = version
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
    size: bytes?.length ?? 0,
    origins,
    parts,
    ...(deleted ? { deleted } : {}),
  }
}
