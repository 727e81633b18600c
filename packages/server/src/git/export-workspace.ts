import { type BatchOutline, type Branch, decodeOutline, findBase, type Snapshot } from '@cairn/core'
import { formatHash } from '@cairn/protocol'
import { timeOf } from '../ports/clock.ts'
import { type LayerRecord, listAll, shownName } from '../ports/layer-store.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { ExportedRef, ExportedRepository } from './exported-repository.ts'
import type { CommitPlan } from './fast-import.ts'
import { refName } from './ref-names.ts'

const mainRef = 'refs/heads/main'
const attemptPrefix = 'refs/heads/attempts/'
const tagPrefix = 'refs/tags/cp/'
const rowsAtOnce = 256

/** Brings the repository up to date with main, the layers and the checkpoints. What has not changed keeps its commit. */
export async function exportWorkspace(
  workspace: OpenWorkspace,
  repository: ExportedRepository,
): Promise<void> {
  await repository.open()
  const refs = await repository.refs()
  const history = refs.has(mainRef) ? await repository.history(mainRef) : []
  const round = new Round(workspace, refs, history)
  const main = await workspace.branch('main')
  const layers = await listAll(workspace.layers, workspace.info.id, {})
  const live = layers.filter(({ state }) => state !== 'abandoned')
  await round.planMainBefore(main)
  for (const layer of live) await round.planLayer(layer)
  await round.planMain(main)
  // First: a name that goes may be a directory of one that comes.
  await repository.removeRefs(round.unused())
  await repository.commitAll(round.plans)
}

/** One export: which commits are missing. */
class Round {
  readonly plans: CommitPlan[] = []
  readonly #workspace: OpenWorkspace
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
    refs: ReadonlyMap<string, ExportedRef>,
    history: readonly ExportedRef[],
  ) {
    this.#workspace = workspace
    this.#refs = refs
    this.#history = history
  }

  /** Refs whose layer or checkpoint is gone. */
  unused(): readonly string[] {
    return [...this.#refs.keys()].filter((name) => !this.#heads.has(name))
  }

  /** Before the layers, because they stand on main: where it was never exported, its tree before the first commit. */
  async planMainBefore(main: Branch): Promise<void> {
    const exported = this.#refs.get(mainRef)
    if (exported) return void this.#heads.set(mainRef, exported)
    await main.refresh()
    for await (const { seq, actor, time, change } of this.#commitsAfter(main, 0)) {
      const about = { seq: seq - 1, actor, time, message: 'Main', parents: [] }
      return this.#plan(mainRef, change.before, about)
    }
    await this.#planHead(main, mainRef, 'Main', undefined)
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
    await this.#planCheckpoints(branch, `${name}/`)
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
    if (older?.root === formatHash(base.root)) return older
    const { originSeq: seq, createdBy: actor } = record
    const time = timeOf(BigInt(Date.parse(record.createdAt)) * 1_000_000n)
    const parents = older ? [older.commit] : []
    this.#plan(ref, base, { seq, actor, time, message: 'What the attempt stands on', parents })
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
    const since = this.#refs.get(mainRef)?.seq ?? 0
    for await (const { seq, actor, time, change } of this.#commitsAfter(main, since)) {
      const layer = this.#heads.get(this.#attempts.get(change.subject) ?? '')
      const before = this.#heads.get(mainRef)
      const parents = [before?.commit, layer?.commit].filter((one) => one !== undefined)
      const message =
        change.message || `Commit of ${this.#attempts.get(change.subject) ?? change.subject}`
      this.#plan(mainRef, change.after, { seq, actor, time, message, parents })
    }
    await this.#planHead(main, mainRef, 'Main', undefined)
    await this.#planCheckpoints(main, '')
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
    if (exported?.root === formatHash(snapshot.root)) return
    const last = await this.#lastBatch(branch, seq)
    const parents = exported ? [exported.commit] : base ? [base.commit] : []
    const { actor = 'cairn', time = { sec: 0, nsec: 0 } } = last ?? {}
    this.#plan(ref, snapshot, { seq, actor, time, message, parents })
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
      if (exported?.root === formatHash(snapshot.root)) continue
      this.#plan(ref, snapshot, {
        seq,
        actor: 'cairn',
        time,
        message: `Checkpoint ${label}`,
        parents: [],
      })
    }
  }

  #plan(
    ref: string,
    snapshot: Snapshot,
    about: Pick<CommitPlan, 'actor' | 'time' | 'message' | 'parents'> & { readonly seq: number },
  ): void {
    const { seq, message, ...rest } = about
    const root = formatHash(snapshot.root)
    const actor = rest.actor.replaceAll(/\s+/g, ' ')
    const trailers = `Cairn-Root: ${root}\nCairn-Seq: ${seq}\nCairn-Actor: ${actor}\n`
    const commit = `@${this.plans.length}`
    this.#heads.set(ref, { commit, root })
    if (ref === mainRef) this.#planned.push({ commit, root, seq })
    this.plans.push({
      ...rest,
      ref,
      snapshot,
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
