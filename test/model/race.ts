import {
  Branch,
  type Checkpoint,
  createBranch,
  decodeBatch,
  type LogRow,
  makeCheckpoint,
  type Op,
  rollback,
  type Stores,
  type Submission,
  trimLog,
} from '@cairn/core'
import {
  type ActorId,
  type BranchId,
  type CheckpointId,
  isCairnError,
  isFsError,
  rootIno,
} from '@cairn/protocol'
import { expect } from 'vitest'
import { type Answered, expectTrueAnswer, replayRows } from './answers.ts'
import type { Chance } from './chance.ts'
import type { Wait } from './slow.ts'
import { ask } from './unavailable.ts'
import type { Around, World } from './world.ts'

const id = 'main' as BranchId
const actor = 'tester' as ActorId
const time = { sec: 0, nsec: 0 }

export interface RaceOptions {
  readonly servers: number
  readonly around: Around
  readonly chance: Chance
  readonly wait: Wait
}

export const raceEvents = ['fold', 'refresh', 'checkpoint', 'rollback', 'epoch', 'trim'] as const
export type RaceEvent = (typeof raceEvents)[number]

interface Server {
  readonly stores: Stores
  readonly branch: Branch
}

/** One branch, several servers, and sessions that all write at once. */
export class Race {
  readonly #world: World
  readonly #chance: Chance
  readonly #wait: Wait
  readonly #servers: readonly Server[]
  readonly #answered: Answered[] = []
  readonly #checkpoints: Checkpoint[] = []

  private constructor(world: World, { chance, wait }: RaceOptions, servers: readonly Server[]) {
    this.#world = world
    this.#chance = chance
    this.#wait = wait
    this.#servers = servers
  }

  static async start(world: World, options: RaceOptions): Promise<Race> {
    await createBranch(world.openStores(), id)
    const servers: Server[] = []
    while (servers.length < options.servers) {
      const stores = world.openStores(options.around)
      servers.push({ stores, branch: await ask(() => Branch.open(stores, id)) })
    }
    return new Race(world, options, servers)
  }

  /** Sends batches in turn, each to any server, and again until it is answered. */
  async runSession(batches: readonly (readonly Op[])[]): Promise<void> {
    const session = this.#world.newSession()
    let epoch = this.#epoch()
    for (const [index, ops] of batches.entries()) {
      await this.#wait()
      const answer = await this.#send({ session, number: index + 1, actor, time, epoch, ops })
      if (answer === 'stale_epoch') epoch = this.#epoch()
    }
  }

  /** Sends each batch before the one before it is answered; what got no answer, again over another line. */
  async runHastySession(batches: readonly (readonly Op[])[]): Promise<void> {
    const session = this.#world.newSession()
    const epoch = this.#epoch()
    for (const ops of batches) this.#world.noteContent(ops)
    const from = this.#rows().length
    let left: Submission[] = batches.map((ops, index) => {
      return { session, number: index + 1, actor, time, epoch, ops }
    })
    for (let attempts = 1; left.length > 0; attempts++) {
      const { branch } = this.#chance.choose(this.#servers)
      const line = {}
      const answers = await Promise.all(
        left.map(async (batch) => {
          const answer = await branch.submit({ ...batch, line }).catch(readRefusalIfAny)
          const to = this.#rows().length
          if (answer) this.#answered.push({ ...batch, from, to, attempts, answer })
          return answer
        }),
      )
      left = left.filter((_, index) => !answers[index])
    }
  }

  /** What happens on the servers beside the sessions. */
  async runEvents(events: readonly RaceEvent[]): Promise<void> {
    for (const event of events) {
      await this.#wait()
      await this.#runEvent(event)
    }
  }

  async #runEvent(event: RaceEvent): Promise<void> {
    const { branch, stores } = this.#chance.choose(this.#servers)
    const author = { session: this.#world.newSession(), number: 1, actor, time }
    switch (event) {
      case 'fold':
        await ask(() => branch.fold())
        return
      case 'refresh':
        await ask(() => branch.refresh())
        return
      case 'checkpoint': {
        const names = { id: author.session as string as CheckpointId, label: '', time }
        this.#checkpoints.push(await ask(() => makeCheckpoint(stores, branch, names)))
        return
      }
      case 'rollback': {
        const checkpoint = this.#chance.choose(this.#checkpoints)
        await ask(() => rollback(stores, branch, author, checkpoint))
        return
      }
      case 'epoch':
        await ask(() => branch.raiseEpoch(author))
        return
      case 'trim':
        // Right behind a fold, so that others are behind it, too.
        await ask(() => branch.fold())
        await ask(() => trimLog(stores, id))
    }
  }

  /** When all is quiet: every answer was true, nothing is lost or doubled, and all servers agree. */
  async finish(): Promise<void> {
    const checkpoints = new Map(this.#checkpoints.map((made) => [made.id as string, made.seq]))
    const rows = this.#rows()
    const past = replayRows(rows, this.#world.newModel(), checkpoints)
    for (const answered of this.#answered) expectTrueAnswer(answered, rows, past)
    expect(new Set(rows.map(({ session, number }) => `${session} ${number}`)).size).toBe(
      rows.length,
    )
    await this.#expectAgreement(past.models.at(-1)!)
    await this.#world.expectNothingLost(id)
    for (const answered of this.#answered)
      if (typeof answered.answer === 'object') await this.#expectSameAnswer(answered)
    expect(this.#rows().length).toBe(rows.length)
  }

  async #expectAgreement(model: ReturnType<World['newModel']>): Promise<void> {
    const stores = this.#world.openStores()
    const opened = await Branch.open(stores, id)
    await this.#world.expectSame(stores, opened.head.view, model)
    const { snapshot } = await opened.head.fold()
    for (const { branch, stores: own } of this.#servers) {
      await ask(() => branch.refresh())
      await this.#world.expectSame(own, branch.head.view, model)
      expect((await ask(() => branch.fold())).snapshot).toEqual(snapshot)
    }
  }

  /** Sent again, a batch gets its receipt again; another one under its number gets none. */
  async #expectSameAnswer({ session, number, epoch, ops, answer }: Answered): Promise<void> {
    const { branch } = this.#chance.choose(this.#servers)
    const batch = { session, number, actor, time, epoch, ops }
    expect(await ask(() => branch.submit(batch))).toEqual(answer)
    const other = { ...batch, ops: [...ops, { type: 'reap', ino: rootIno } as const] }
    const reason: unknown = await ask(() => branch.submit(other)).catch((error: unknown) => error)
    expect(isCairnError(reason, 'batch_mismatch')).toBe(true)
  }

  async #send(batch: Submission): Promise<Answered['answer']> {
    const from = this.#rows().length
    this.#world.noteContent(batch.ops)
    let attempts = 0
    const answer = await ask(() => {
      attempts++
      return this.#chance.choose(this.#servers).branch.submit(batch)
    }).catch(readRefusal)
    this.#answered.push({ ...batch, from, to: this.#rows().length, attempts, answer })
    return answer
  }

  #rows(): readonly LogRow[] {
    return this.#world.disk.log.logs.get(id) ?? []
  }

  #epoch(): number {
    const last = this.#rows().at(-1)
    return last ? decodeBatch(last.bytes).epoch : 1
  }
}

function readRefusalIfAny(error: unknown): Answered['answer'] | undefined {
  return isCairnError(error, 'storage_unavailable') ? undefined : readRefusal(error)
}

function readRefusal(error: unknown): Answered['answer'] {
  if (isFsError(error)) return error.code
  if (isCairnError(error, 'stale_epoch')) return 'stale_epoch'
  if (isCairnError(error, 'batch_passed_over')) return 'batch_passed_over'
  throw error
}
