import type { LogRow, LogStore } from '@cairn/core'
import type { BranchId, SessionId } from '@cairn/protocol'
import type { Chance } from './chance.ts'
import type { Wait } from './slow.ts'
import { unavailable } from './unavailable.ts'

/**
 * A log that now and then does not answer. Then it is unknown whether an append happened, or will
 * happen yet.
 */
export class FlakyLog implements LogStore {
  readonly #log: LogStore
  readonly #chance: Chance
  readonly #wait: Wait
  readonly #late: Promise<void>[] = []

  constructor(log: LogStore, chance: Chance, wait: Wait) {
    this.#log = log
    this.#chance = chance
    this.#wait = wait
  }

  /** Resolves when nothing is on its way any more. */
  async settled(): Promise<void> {
    await Promise.all(this.#late)
  }

  async append(branch: BranchId, rows: readonly LogRow[]): Promise<void> {
    const failure = this.#chance.choose(['none', 'none', 'before', 'after', 'late'])
    if (failure === 'none') return this.#log.append(branch, rows)
    if (failure === 'after') await this.#log.append(branch, rows)
    if (failure === 'late') this.#late.push(this.#appendLate(branch, rows))
    throw unavailable()
  }

  async read(branch: BranchId, seq: number, limit: number): Promise<readonly LogRow[]> {
    this.#failSometimes()
    return this.#log.read(branch, seq, limit)
  }

  async lastNumber(branch: BranchId, session: SessionId): Promise<number> {
    this.#failSometimes()
    return this.#log.lastNumber(branch, session)
  }

  async find(branch: BranchId, session: SessionId, number: number): Promise<LogRow | undefined> {
    this.#failSometimes()
    return this.#log.find(branch, session, number)
  }

  async trimmedTo(branch: BranchId): Promise<number> {
    this.#failSometimes()
    return this.#log.trimmedTo(branch)
  }

  async trim(branch: BranchId, seq: number, rows: readonly LogRow[]): Promise<void> {
    this.#failSometimes()
    await this.#log.trim(branch, seq, rows)
  }

  /** The first append has won; the sender got an error. */
  async #appendLate(branch: BranchId, rows: readonly LogRow[]): Promise<void> {
    await this.#wait()
    await this.#log.append(branch, rows).catch(() => {})
  }

  #failSometimes(): void {
    if (this.#chance.oneIn(8)) throw unavailable()
  }
}
