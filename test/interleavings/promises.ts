import { decodeBatch, directoriesOf, type LogRow, type View } from '@cairn/core'
import { wholeTree } from '@cairn/mount/testing'
import { type BranchId, type Ino, rootIno } from '@cairn/protocol'
import { type Acknowledged, type ModelClient, tagOf } from './model-client.ts'
import type { ModelWorld } from './model-world.ts'

/** What must be true of a world: at each moment, and in the end. */
export class Promises {
  readonly faults: string[] = []
  /** A timer fired while a session was asked for something: it was waited for long enough, perhaps. */
  isTimeLost = false
  /** What the log makes of the tree. */
  readonly tree: ReturnType<typeof wholeTree> = wholeTree()
  length = 0
  readonly #world: ModelWorld
  /** Of each client, the last thing in the log that it acknowledged. */
  readonly #last = new Map<string, number>()

  constructor(world: ModelWorld) {
    this.#world = world
  }

  watch(branch: BranchId): void {
    const { log } = this.#world.disk
    const append = log.append.bind(log)
    log.append = async (id, rows) => {
      await append(id, rows)
      if (id === branch) for (const row of rows) this.#judgeRow(row)
    }
  }

  /** A directory has one holder, and the server knows which. */
  judgeState(): void {
    const { clients, keeper } = this.#world
    for (const ino of directoriesIn(this.tree)) {
      const { epoch } = keeper.record
      const holders = clients.filter((client) => client.acknowledgesIn(ino, epoch))
      if (holders.length > 1) this.#fault(`${ino} is held by ${namesOf(holders)}`)
      const noted = keeper.sharing.noted(ino).holder
      for (const { who, id } of holders)
        if (keeper.holders.length > 1 && noted !== id)
          this.#fault(`${who} takes ${ino} for its own, and the server does not`)
    }
    for (const { who, mount } of clients)
      for (const why of mount.refused.splice(0))
        this.#fault(`${who}'s change is refused: ${String(why)}`)
  }

  /** No other client may take the directory for its own, nor for known. */
  judgeAcknowledged(client: ModelClient, { directories, epoch, tag }: Acknowledged): void {
    for (const other of this.#world.clients.filter((each) => each !== client))
      for (const ino of directories) {
        const what = `${client.who} acknowledges #${tag} in ${ino}`
        if (other.acknowledgesIn(ino, epoch)) this.#fault(`${what}, as ${other.who} may`)
        const takesForKnown = isServed(other) && other.mount.sharing.isFresh(ino)
        if (takesForKnown && !this.isTimeLost)
          this.#fault(`${what}, which ${other.who} takes for known`)
      }
  }

  /** What was acknowledged there before must be seen after it, unless it was lost with its session. */
  beginLook(client: ModelClient, directory: Ino): () => void {
    const others = this.#world.clients.filter((other) => other !== client && isServed(client))
    const before = others.flatMap(({ acknowledged }) =>
      acknowledged.filter(({ directories }) => directories.includes(directory)),
    )
    return () => {
      for (const { tag, by, outcome } of before) {
        const isThere = typeof outcome === 'object' && 'seq' in outcome
        if (isThere && outcome.seq <= client.mount.seq) continue
        if (typeof outcome === 'object' && 'lost' in outcome) continue
        // It may be the one that is passed over at this moment, and not know.
        if (this.#isLate(by)) continue
        this.#fault(`${client.who} looks into ${directory} and misses #${tag}`)
      }
    }
  }

  /** Nothing is on its way: all is where it belongs, and all mounts show one tree. */
  judgeEnd(): void {
    for (const { who, acknowledged, isDead, mount, way } of this.#world.clients) {
      for (const { tag, outcome } of acknowledged) {
        if (outcome === 'pending' && !isDead) this.#fault(`${who}'s #${tag} has no answer`)
        const isLost = typeof outcome === 'object' && 'lost' in outcome
        if (isLost && !this.#isLate(who)) this.#fault(`${who}'s #${tag} is lost: ${outcome.lost}`)
      }
      if (isDead || !way.isOpen) continue
      if (mount.seq !== this.length) this.#fault(`${who} has seen ${mount.seq} of ${this.length}`)
      if (listed(mount.view) !== listed(this.tree))
        this.#fault(`${who} shows ${listed(mount.view)}, not ${listed(this.tree)}`)
    }
  }

  /** Its lease may have been taken by force. */
  #isLate(who: string): boolean {
    const { clients, isOverdue } = this.#world
    return isOverdue || clients.find((client) => client.who === who)!.hasLapsed
  }

  /** It comes behind all that was acknowledged before by the same client, and concerns no directory of another one. */
  #judgeRow(row: LogRow): void {
    const { body, session, epoch, seq } = decodeBatch(row.bytes)
    this.length = seq
    if (body.type !== 'ops') return
    const { clients } = this.#world
    const author = clients.find(({ id }) => id === session)
    for (const op of body.ops) {
      for (const ino of directoriesOf(this.tree, op))
        for (const other of clients)
          if (other !== author && other.acknowledgesIn(ino, epoch))
            this.#fault(
              `batch ${seq} of ${author?.who ?? 'a request'} is in ${ino} of ${other.who}`,
            )
      const index = author?.acknowledged.findIndex(({ tag }) => tag === tagOf(op)) ?? -1
      if (index >= 0 && index <= (this.#last.get(session) ?? -1))
        this.#fault(`#${tagOf(op)} is out of order`)
      if (index >= 0) this.#last.set(session, index)
      this.tree.absorb(this.tree.plan([op]))
    }
  }

  #fault(what: string): void {
    this.faults.push(what)
  }
}

/** It is not cut off. One that is shows what it knows. */
function isServed({ runs, mount }: ModelClient): boolean {
  return runs && mount.session.standing !== 'waiting'
}

function namesOf(clients: readonly ModelClient[]): string {
  return clients.map(({ who }) => who).join(' and ')
}

export function directoriesIn(view: View, ino: Ino = rootIno): readonly Ino[] {
  const below = view.entries(ino, undefined, 1000).filter(({ kind }) => kind === 'directory')
  return [ino, ...below.flatMap((entry) => directoriesIn(view, entry.ino))]
}

/** All names, and what they lead to. */
export function listed(view: View): string {
  return directoriesIn(view)
    .flatMap((ino) =>
      view.entries(ino, undefined, 1000).map((entry) => `${ino}/${entry.name}=${entry.ino}`),
    )
    .join(' ')
}
