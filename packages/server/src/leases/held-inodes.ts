import type { BranchId, Ino, SessionId } from '@cairn/protocol'
import type { LeaseOptions } from './lease-keeper.ts'

/** How long what a session holds counts after it last said so. */
const holdLeases = 3
const holdsMax = 10_000

/** The files without a name that sessions have open, whichever server they are connected to. */
export class HeldInodes {
  readonly #branch: BranchId
  readonly #options: LeaseOptions

  constructor(branch: BranchId, options: LeaseOptions) {
    this.#branch = branch
    this.#options = options
  }

  /** All of the session's. They stay as long as it keeps saying so. */
  async hold(session: SessionId, inos: readonly Ino[]): Promise<void> {
    const { notes, clock, leaseMs } = this.#options
    const untilMs = clock.nowMs() + holdLeases * leaseMs
    await notes.hold(this.#branch, { session, inos: inos.slice(0, holdsMax), untilMs })
  }

  async findAll(except?: SessionId): Promise<ReadonlySet<Ino>> {
    const { notes, clock } = this.#options
    const held = new Set<Ino>()
    for (const hold of await notes.listHolds(this.#branch))
      if (hold.session === except) continue
      else if (hold.untilMs > clock.nowMs()) for (const ino of hold.inos) held.add(ino)
      else await notes.hold(this.#branch, { ...hold, inos: [] })
    return held
  }
}
