import {
  blobsOfOps,
  Branch,
  decodeBatch,
  type LogMemory,
  type RootReference,
  pathOf,
  referencesOf,
  type Snapshot,
  type Stores,
  TreeView,
  type View,
} from '@cairn/core'
import {
  type BranchId,
  formatPath,
  type Hash,
  type Ino,
  isCairnError,
  isFsError,
} from '@cairn/protocol'

/** Something that cannot be read as it was written. */
export interface Problem {
  readonly message: string
  /** Branches, with the points of them and the files that need it. */
  readonly belongsTo: readonly string[]
}

/** What a store says about damage; anything else is no finding, and thrown. */
export function damageOf(error: unknown): string {
  const codes = [
    'corrupt',
    'malformed',
    'unsupported_version',
    'node_missing',
    'blob_missing',
    'chain_broken',
  ] as const
  for (const code of codes) if (isCairnError(error, code)) return error.message
  if (isFsError(error)) return `cannot apply the log again: ${error.message}`
  throw error
}

/** What was found, each thing once, whatever led to it. */
export class Problems {
  /** By message, then by whom it belongs to: the points. */
  readonly #found = new Map<string, Map<string, Set<string>>>()
  readonly #things = new Map<Hash, string>()

  /** Nodes and blobs that are damaged. */
  get things(): ReadonlySet<Hash> {
    return new Set(this.#things.keys())
  }

  note(error: unknown, owner: string): void {
    this.#add(damageOf(error), owner)
  }

  /** A node or a blob: whom it belongs to is found out later. */
  noteThing(error: unknown, thing: Hash): void {
    const message = damageOf(error)
    this.#things.set(thing, message)
    if (!this.#found.has(message)) this.#found.set(message, new Map())
  }

  /** What kept a branch from being opened, unless it has been noted by itself. */
  noteUnlessKnown(error: unknown, owner: string): void {
    if (!this.#found.has(damageOf(error))) this.note(error, owner)
  }

  belongs(thing: Hash, owner: string, point: string): void {
    this.#add(this.#things.get(thing)!, owner, point)
  }

  list(): Problem[] {
    return [...this.#found].map(([message, owners]) => ({
      message,
      belongsTo: [...owners].map(([owner, points]) =>
        points.size === 0 ? owner : `${owner} (${[...points].join(', ')})`,
      ),
    }))
  }

  #add(message: string, owner: string, point?: string): void {
    const owners = this.#found.get(message) ?? new Map<string, Set<string>>()
    this.#found.set(message, owners)
    const points = owners.get(owner) ?? new Set()
    owners.set(owner, points)
    if (point !== undefined) points.add(point)
  }
}

/** A damaged node or blob where it was found, with the path of the file if that can still be read. */
export interface Finding {
  readonly thing: Hash
  readonly path: string | undefined
}

const rowsAtOnce = 256

/** Finds out which trees and logs lead to damaged nodes and blobs. Each node is read once more. */
export class DamageTracer {
  readonly #stores: Stores
  readonly #damaged: ReadonlySet<Hash>
  readonly #below = new Map<Hash, readonly RootReference[]>()

  constructor(stores: Stores, damaged: ReadonlySet<Hash>) {
    this.#stores = stores
    this.#damaged = damaged
  }

  async inSnapshot(snapshot: Snapshot): Promise<Finding[]> {
    const view = new TreeView(this.#stores.nodes, snapshot)
    const found: Finding[] = []
    for (const root of [snapshot.root, snapshot.orphans])
      for (const { id, ino } of await this.#trace(root))
        found.push({ thing: id, path: ino && (await this.#pathOf(view, ino)) })
    return found
  }

  /** Blobs that no tree has yet. */
  async inLog(id: BranchId, after: number): Promise<Finding[]> {
    const found = await this.#traceLog(id, after)
    if (found.length === 0) return []
    const branch = await attempt(() => Branch.open(this.#stores, id))
    const findings: Finding[] = []
    for (const { id: thing, ino } of found)
      findings.push({ thing, path: branch && ino && (await this.#pathOf(branch.head.view, ino)) })
    return findings
  }

  async #traceLog(id: BranchId, after: number): Promise<readonly RootReference[]> {
    const found: RootReference[] = []
    for (let seq = after; ;) {
      const rows = await this.#stores.log.read(id, seq, rowsAtOnce)
      if (rows.length === 0) return found
      for (const row of rows) {
        seq = row.seq
        const batch = await attempt(async () => decodeBatch(row.bytes))
        if (batch?.body.type !== 'ops') continue
        const blobs = blobsOfOps(batch.body.ops)
        found.push(...blobs.filter((blob) => this.#damaged.has(blob.id)))
      }
    }
  }

  async #trace(hash: Hash): Promise<readonly RootReference[]> {
    const { nodes } = this.#stores
    if (this.#damaged.has(hash)) return [{ id: hash, isBlob: false }]
    const known = hash === nodes.emptyRoot ? [] : this.#below.get(hash)
    if (known) return known
    const found: RootReference[] = []
    for (const reference of referencesOf(await nodes.load(hash)))
      if (!reference.isBlob) found.push(...(await this.#trace(reference.id)))
      else if (this.#damaged.has(reference.id)) found.push(reference)
    this.#below.set(hash, found)
    return found
  }

  async #pathOf(view: View, ino: Ino): Promise<string | undefined> {
    const names = await attempt(() => this.#stores.nodes.read(() => pathOf(view, ino)))
    return names && formatPath(names)
  }
}

/** Undefined where damage stands in the way. */
async function attempt<T>(read: () => Promise<T>): Promise<T | undefined> {
  try {
    return await read()
  } catch (error) {
    damageOf(error)
    return undefined
  }
}

/** The points of a branch that trees are kept of, by what people call them. */
export async function* pointsOf(
  { refs }: Stores,
  branch: BranchId,
  { rootChanges }: LogMemory,
): AsyncGenerator<readonly [name: string, snapshot: Snapshot]> {
  const { base, folded } = await refs.getBranch(branch)
  yield ['base', base]
  yield ['head', folded.snapshot]
  for (const { id, label, snapshot } of await refs.listCheckpoints(branch))
    yield [`checkpoint ${label === '' ? id : label}`, snapshot]
  for (const { seq, before, after } of rootChanges) {
    if (seq <= folded.seq && rootChanges.at(-1)?.seq !== seq) continue
    yield [`before ${seq}`, before]
    if (seq > folded.seq) yield [`after ${seq}`, after]
  }
}
