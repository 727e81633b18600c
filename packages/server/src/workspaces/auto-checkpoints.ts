import { type Batch, type Branch, type Checkpoint, isClosedState, type Snapshot } from '@cairn/core'
import type { CheckpointId } from '@cairn/protocol'
import { millisecondsOf } from '../ports/clock.ts'
import type { OpenWorkspace } from './open-workspace.ts'

/** No id that people give has a colon. */
const prefix = 'auto:'

export function isAutomatic(id: CheckpointId): boolean {
  return id.startsWith(prefix)
}

/**
 * Makes checkpoints of a layer by itself, after a time without a change. Every server that has the
 * branch open does so: the place in the log gives the id, so that several make the same one. No
 * lease holder is asked to submit first, as that would cost it its lease; what a mount has
 * acknowledged is here a moment later, and is a change then.
 */
export class AutoCheckpoints {
  readonly #workspace: OpenWorkspace
  readonly #branch: Branch
  /** The newest batch that changed a file. */
  #seq: number
  #changedMs: number
  #isWaiting = false

  constructor(workspace: OpenWorkspace, branch: Branch) {
    this.#workspace = workspace
    this.#branch = branch
    this.#seq = branch.head.position.seq
    this.#changedMs = workspace.clock.nowMs()
    // What came before may have been waiting for a server that ended.
    void this.#wait()
  }

  hear({ seq, body }: Batch): void {
    if (body.type !== 'ops' && body.type !== 'root') return
    this.#seq = seq
    this.#changedMs = this.#workspace.clock.nowMs()
    if (!this.#isWaiting) void this.#wait()
  }

  async #wait(): Promise<void> {
    this.#isWaiting = true
    try {
      for (let made = -1; made !== this.#seq;) made = (await this.#makeOnceQuiet()) ?? this.#seq
    } catch {
      // The store does not answer, or the layer is gone: the next change tries again.
    }
    this.#isWaiting = false
  }

  /**
   * Returns the place in the log that was looked at; undefined where checkpoints are not wanted.
   */
  async #makeOnceQuiet(): Promise<number | undefined> {
    const { clock, quotas } = this.#workspace
    for (;;) {
      const { autoCheckpointMs: quietMs } = await quotas.settingsOf(this.#branch)
      if (quietMs === undefined) return undefined
      const leftMs = this.#changedMs + quietMs - clock.nowMs()
      if (leftMs <= 0) break
      await clock.sleep(leftMs)
    }
    const seq = this.#seq
    const { snapshot } = await this.#branch.fold()
    if (seq === this.#seq) await this.#make(seq, snapshot)
    return seq
  }

  async #make(seq: number, snapshot: Snapshot): Promise<void> {
    const { refs } = this.#workspace.stores
    const { id, head } = this.#branch
    if (isClosedState(head.position.state)) return
    const last = (await refs.listCheckpoints(id)).findLast((each) => isAutomatic(each.id))
    if (last?.snapshot.root !== snapshot.root)
      await makeAutomatic(this.#workspace, this.#branch, { seq, snapshot })
  }
}

/** The place in the log is its id: again is fine. Lets go of those that have become too many. */
export async function makeAutomatic(
  { stores, layers, info, clock }: Pick<OpenWorkspace, 'stores' | 'layers' | 'info' | 'clock'>,
  { id: branch }: Branch,
  { seq, snapshot }: Pick<Checkpoint, 'seq' | 'snapshot'>,
): Promise<void> {
  const before = (await stores.refs.listCheckpoints(branch)).filter(({ id }) => isAutomatic(id))
  const id = `${prefix}${seq}` as CheckpointId
  await stores.refs.putCheckpoint({ id, branch, label: '', seq, snapshot, time: clock.now() })
  await layers.putLabel({ workspace: info.id, branch, id, label: '', toolCall: undefined })
  // DURABLE: the checkpoint can be found.
  for (const old of thin(before, clock.nowMs()))
    if (old !== id) await layers.removeLabel(branch, old)
}

const minuteMs = 60_000
const hourMs = 60 * minuteMs
const dayMs = 24 * hourMs

/**
 * Which to delete: all of the last hour stay, of the last day the newest of every ten minutes, of
 * what is older the newest of every day. Those with a label or of a tool call always stay.
 */
export function thin(
  checkpoints: readonly Pick<Checkpoint, 'id' | 'time'>[],
  nowMs: number,
): readonly CheckpointId[] {
  const kept = new Map<string, { readonly id: CheckpointId; readonly madeMs: number }>()
  const unwanted: CheckpointId[] = []
  for (const { id, time } of checkpoints) {
    const madeMs = millisecondsOf(time)
    const ageMs = nowMs - madeMs
    if (ageMs < hourMs) continue
    const spanMs = ageMs < dayMs ? 10 * minuteMs : dayMs
    const span = `${spanMs} ${Math.floor(madeMs / spanMs)}`
    const rival = kept.get(span)
    const isNewer = !rival || madeMs >= rival.madeMs
    if (rival) unwanted.push(isNewer ? rival.id : id)
    if (isNewer) kept.set(span, { id, madeMs })
  }
  return unwanted
}
