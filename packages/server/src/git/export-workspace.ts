import { type BatchOutline, type Branch, decodeOutline, findBase, type Snapshot } from '@cairn/core'
import { timeOf } from '../ports/clock.ts'
import { type LayerRecord, listAll, shownName } from '../ports/layer-store.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { ExportedRef, ExportedRepository } from './exported-repository.ts'
import type { CommitPlan } from './fast-import.ts'
import { refName } from './ref-names.ts'
import type { Made, Viewer } from './viewer.ts'

const mainRef = 'refs/heads/main'
const attemptPrefix = 'refs/heads/attempts/'
const tagPrefix = 'refs/tags/cp/'
const rowsAtOnce = 256

/** Brings the repository up to date with main, the layers and the checkpoints. What has not changed keeps its commit. */
export async function exportWorkspace(
  workspace: OpenWorkspace,
  repository: ExportedRepository,
  viewer: Viewer,
): Promise<void> {
  await repository.open()
  const refs = await repository.refs()
  const history = refs.has(mainRef) ? await repository.history(mainRef) : []
  const round = new Round(workspace, viewer, refs, history)
  const main = await workspace.branch('main')
  const layers = await listAll(workspace.layers, workspace.info.id, {})
  const live = layers.filter((layer) => layer.state !== 'abandoned' && viewer.seesLayer(layer))
  if (viewer.seesMain) await round.planMainBefore(main, live)
  for (const layer of live) await round.planLayer(layer)
  if (viewer.seesMain) await round.planMain(main)
  // First: a name that goes may be a directory of one that comes.
  await repository.removeRefs(round.unused())
  await repository.commitAll(round.plans)
  await repository.checkOut(round.firstRef)
}

/** A state of main that layers stand on. */
interface MainThen {
  readonly seq: number
  readonly snapshot: Snapshot
  readonly made: Made | undefined
}

interface Planned {
  readonly seq: number
  readonly made: Made | undefined
  readonly message: string
  readonly parents: readonly string[]
}

/** One export: which commits are missing. */
class Round {
  readonly plans: CommitPlan[] = []
  readonly #workspace: OpenWorkspace
  readonly #viewer: Viewer
  readonly #refs: ReadonlyMap<string, ExportedRef>
  /** What each ref will be: a commit, or `@N` of the plans. */
  readonly #heads = new Map<string, { readonly commit: string; readonly root: string }>()
  readonly #attempts = new Map<string, string>()
  /** Where the tags of layers are. */
  readonly #directories = new Set<string>()
  /** Commits of main, as they were exported before. */
  readonly #history: readonly ExportedRef[]
  /** Those of main that this round makes. */
  readonly #planned: ExportedRef[] = []

  constructor(
    workspace: OpenWorkspace,
    viewer: Viewer,
    refs: ReadonlyMap<string, ExportedRef>,
    history: readonly ExportedRef[],
  ) {
    this.#workspace = workspace
    this.#viewer = viewer
    this.#refs = refs
    this.#history = history
  }

  /** Refs whose layer or checkpoint is gone. */
  unused(): readonly string[] {
    return [...this.#refs.keys()].filter((name) => !this.#heads.has(name))
  }

  /** What a clone has first. */
  get firstRef(): string {
    return this.#heads.has(mainRef) ? mainRef : (this.#attempts.values().next().value ?? mainRef)
  }

  /** Before the layers, because they stand on main: where it was never exported, its tree before the first of them. */
  async planMainBefore(main: Branch, layers: readonly LayerRecord[]): Promise<void> {
    const exported = this.#refs.get(mainRef)
    if (exported) return void this.#heads.set(mainRef, exported)
    await main.refresh()
    const first = this.#viewer.seesHistory
      ? await this.#beforeCommits(main)
      : await this.#beforeLayers(layers)
    if (!first) return this.#planHead(main, mainRef, 'Main', undefined)
    const { seq, snapshot, made } = first
    await this.#plan(mainRef, snapshot, { seq, made, message: 'Main', parents: [] })
  }

  /** Main before the first commit of a layer. */
  async #beforeCommits(main: Branch): Promise<MainThen | undefined> {
    for await (const { seq, actor, time, change } of this.#commitsAfter(main, 0))
      return { seq: seq - 1, snapshot: change.before, made: { actor, time } }
    return undefined
  }

  /** Main as the oldest layer found it. */
  async #beforeLayers(layers: readonly LayerRecord[]): Promise<MainThen | undefined> {
    const [oldest] = layers
      .filter(({ parent }) => parent === 'main')
      .toSorted((a, b) => a.originSeq - b.originSeq)
    if (!oldest) return undefined
    const branch = await this.#workspace.openBranch(oldest.branch)
    const { base } = await findBase(this.#workspace.stores, branch)
    return { seq: oldest.originSeq, snapshot: base, made: undefined }
  }

  async planLayer(record: LayerRecord): Promise<void> {
    const name = this.#freeName(record)
    const ref = `${attemptPrefix}${name}`
    const branch = await this.#workspace.openBranch(record.branch)
    this.#attempts.set(record.branch, ref)
    this.#directories.add(`${tagPrefix}${name}`)
    await branch.refresh()
    const base = this.#refs.has(ref) ? undefined : await this.#planBase(branch, ref, record)
    await this.#planHead(branch, ref, record.message || `Attempt ${name}`, base)
    if (this.#viewer.seesCheckpoints(record.path)) await this.#planCheckpoints(branch, `${name}/`)
  }

  /** Names that tokens gave may be shown alike. */
  #freeName({ id, name }: LayerRecord): string {
    const shown = refName(name === undefined ? id : shownName(name))
    const isTaken = [...this.#attempts.values()].includes(`${attemptPrefix}${shown}`)
    return isTaken ? `${shown}-${refName(id)}` : shown
  }

  /**
   * What a layer stands on, on top of the newest commit of main that is not newer. On a newer one the attempt would seem
   * to take back what others did since.
   */
  async #planBase(
    branch: Branch,
    ref: string,
    record: LayerRecord,
  ): Promise<{ readonly commit: string }> {
    const { base } = await findBase(this.#workspace.stores, branch)
    const isOnMain = record.parent === 'main'
    const older = isOnMain ? this.#mainAt(record.originSeq) : undefined
    if (older && older.root === (await this.#viewer.rootOf(base))) return older
    const { originSeq: seq, createdBy: actor } = record
    const time = timeOf(BigInt(Date.parse(record.createdAt)) * 1_000_000n)
    const parents = older ? [older.commit] : []
    const message = 'What the attempt stands on'
    await this.#plan(ref, base, { seq, made: { actor, time }, message, parents })
    return this.#heads.get(ref)!
  }

  /** The newest commit of main that is not after this sequence number. */
  #mainAt(seq: number): { readonly commit: string; readonly root: string } | undefined {
    const all = [...this.#history, ...this.#planned]
    return all.filter((one) => one.seq <= seq).toSorted((a, b) => b.seq - a.seq)[0]
  }

  /** The commits of layers since the last export as merges, then what else is in main now. */
  async planMain(main: Branch): Promise<void> {
    await main.refresh()
    if (this.#viewer.seesHistory) await this.#planMerges(main)
    await this.#planHead(main, mainRef, 'Main', undefined)
    if (this.#viewer.seesCheckpoints('/')) await this.#planCheckpoints(main, '')
  }

  async #planMerges(main: Branch): Promise<void> {
    const since = this.#refs.get(mainRef)?.seq ?? 0
    for await (const { seq, actor, time, change } of this.#commitsAfter(main, since)) {
      const layer = this.#heads.get(this.#attempts.get(change.subject) ?? '')
      const before = this.#heads.get(mainRef)
      const parents = [before?.commit, layer?.commit].filter((one) => one !== undefined)
      const message =
        change.message || `Commit of ${this.#attempts.get(change.subject) ?? change.subject}`
      await this.#plan(mainRef, change.after, { seq, made: { actor, time }, message, parents })
    }
  }

  async #planHead(
    branch: Branch,
    ref: string,
    message: string,
    base: { readonly commit: string } | undefined,
  ): Promise<void> {
    const exported = this.#heads.get(ref) ?? this.#refs.get(ref)
    const { snapshot, seq } = await branch.fold()
    if (exported) this.#heads.set(ref, exported)
    if (exported && exported.root === (await this.#viewer.rootOf(snapshot))) return
    const made = await this.#lastBatch(branch, seq)
    const parents = exported ? [exported.commit] : base ? [base.commit] : []
    await this.#plan(ref, snapshot, { seq, made, message, parents })
  }

  async #planCheckpoints(branch: Branch, prefix: string): Promise<void> {
    for (const { id, label } of await this.#workspace.layers.listLabels(branch.id)) {
      if (label === '') continue
      const { snapshot, seq, time } = await this.#workspace.stores.refs.getCheckpoint(branch.id, id)
      const plain = `${tagPrefix}${prefix}${refName(label)}`
      // Several may have one label, and a layer's name is a directory.
      const isTaken = this.#heads.has(plain) || this.#directories.has(plain)
      const ref = isTaken ? `${plain}-${refName(id)}` : plain
      const exported = this.#refs.get(ref)
      if (exported) this.#heads.set(ref, exported)
      if (exported && exported.root === (await this.#viewer.rootOf(snapshot))) continue
      const made = { actor: 'cairn', time }
      const message = `Checkpoint ${label}`
      await this.#plan(ref, snapshot, { seq, made, message, parents: [] })
    }
  }

  async #plan(
    ref: string,
    snapshot: Snapshot,
    { seq, made, message, parents }: Planned,
  ): Promise<void> {
    const root = await this.#viewer.rootOf(snapshot)
    const { actor: teller, time } = this.#viewer.tell(made)
    const actor = teller.replaceAll(/\s+/g, ' ')
    const trailers = `Cairn-Root: ${root}\nCairn-Seq: ${seq}\nCairn-Actor: ${actor}\n`
    const commit = `@${this.plans.length}`
    this.#heads.set(ref, { commit, root })
    if (ref === mainRef) this.#planned.push({ commit, root, seq })
    this.plans.push({
      ref,
      tree: this.#viewer.shown(snapshot),
      parents,
      actor,
      time,
      message: `${message.replaceAll('\0', '')}\n\n${trailers}`,
    })
  }

  async *#commitsAfter(
    { id }: Branch,
    seq: number,
  ): AsyncGenerator<
    BatchOutline & { readonly change: Extract<BatchOutline['body'], { type: 'root' }>['change'] }
  > {
    const { log, nodes } = this.#workspace.stores
    for (let after = seq; ;) {
      const rows = await log.read(id, after, rowsAtOnce)
      if (rows.length === 0) return
      for (const row of rows) {
        const batch = decodeOutline(row.bytes)
        const { body } = batch
        if (body.type === 'root' && body.change.cause === 'commit')
          yield { ...batch, change: body.change }
        if (nodes.pacer.isDue()) await nodes.pacer.rest()
      }
      after = rows.at(-1)!.seq
    }
  }

  async #lastBatch({ id }: Branch, seq: number): Promise<BatchOutline | undefined> {
    const [row] = seq === 0 ? [] : await this.#workspace.stores.log.read(id, seq - 1, 1)
    return row && decodeOutline(row.bytes)
  }
}
