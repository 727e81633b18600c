import type { Op, Time } from '@cairn/core'
import { BareMount } from '@cairn/mount/testing'
import { FsError, type Ino, isFsError, type Name, rootIno, type SessionId } from '@cairn/protocol'
import {
  type Acknowledged,
  directoriesIn,
  type Judged,
  tagOf,
} from '../simulation/trees/promises.ts'
import { createOp } from '../simulation/trees/tree-client.ts'
import { type Action, type Place, places, type Who, whos } from './scenario.ts'
import { Timers } from './timers.ts'
import type { Way } from './way.ts'

export interface ModelClientParts {
  readonly who: Who
  readonly way: Way
  readonly program: readonly Action[]
  readonly onAcknowledge: (acknowledged: Acknowledged) => void
  /** Before a look. What it gives is called after it. */
  readonly beginLook: (directory: Ino) => () => void
}

const tagsEach = 100

/** A mount and the program that runs on it. */
export class ModelClient implements Judged {
  readonly who: Who
  readonly mount: BareMount
  readonly way: Way
  readonly timers: Timers = new Timers()
  readonly acknowledged: Acknowledged[] = []
  isDead = false
  hasLeft = false
  isFrozen = false
  /** The server has passed it over once, perhaps. */
  hasLapsed = false
  /** It did not run for a lease time, and was not welcome since. */
  isInDoubt = false
  /** So many actions of its program are done. */
  done = 0
  isBusy = false
  readonly #parts: ModelClientParts
  readonly #unsent: (() => void)[] = []
  #tag: number

  constructor(parts: ModelClientParts) {
    this.#parts = parts
    const { who, way } = parts
    this.who = who
    this.way = way
    this.#tag = tagsEach * (1 + whos.indexOf(who))
    this.mount = new BareMount({
      connect: way.connect,
      clock: this.timers,
      random: () => 0,
      workspace: 'w',
      isInDoubt: () => this.isInDoubt,
      onAcknowledge: (op, directories) => this.#noteAcknowledged(op, directories),
      onSettled: (op, outcome) => this.#noteSettled(op, outcome),
      later: (send) => this.#unsent.push(send),
    })
  }

  get id(): SessionId {
    return this.mount.session.id as SessionId
  }

  get runs(): boolean {
    return !this.isDead && !this.isFrozen && !this.hasLeft
  }

  get unsent(): number {
    return this.#unsent.length
  }

  /** The server waits until it has given something back, or has forgotten it. */
  get isAsked(): boolean {
    const { toClient, toServer } = this.way
    return [...toClient, ...toServer].some(
      ({ message }) =>
        ['yield', 'forget', 'done'].includes(message.type) ||
        (message.type === 'share' && message.id > 0),
    )
  }

  /** What may happen to it next. */
  get steps(): string[] {
    const { who, way, runs } = this
    const steps: string[] = []
    if (way.toServer.length > 0) steps.push(`${who} to server`)
    if (runs && way.toClient.length > 0) steps.push(`server to ${who}`)
    if (runs && way.toClient.length > 1) steps.push(`server to ${who} at once`)
    if (runs && this.unsent > 0) steps.push(`${who} sends`)
    if (runs && !this.isBusy && this.done < this.#parts.program.length) steps.push(`${who} begins`)
    if (this.isFrozen) steps.push(`${who} runs again`)
    if (this.isDead && way.isOpen) steps.push(`${who} is missed`)
    return steps
  }

  take(step: string): void {
    const { way } = this
    if (step.endsWith('to server')) way.toServer.shift()!.arrive()
    else if (step.endsWith('at once')) for (const sent of way.toClient.splice(0)) sent.arrive()
    else if (step.startsWith('server to')) way.toClient.shift()!.arrive()
    else if (step.endsWith('sends')) for (const send of this.#unsent.splice(0)) send()
    else if (step.endsWith('begins')) this.#begin()
    else if (step.endsWith('runs again')) this.#thaw()
    else way.cut()
  }

  /** It has its place at the server, which has what it acknowledged, and its program does not wait. */
  get isAtRest(): boolean {
    const isSettled = !this.isBusy && this.mount.unsettled === 0
    return (
      this.isDead ||
      this.hasLeft ||
      (isSettled && this.runs && this.mount.session.standing !== 'waiting')
    )
  }

  /** Whether it tells its program, in that epoch, that a change there is done. A frozen one may be about to. */
  acknowledgesIn(directory: Ino, epoch: number): boolean {
    if (this.isDead || this.hasLeft || this.isInDoubt) return false
    return this.mount.acknowledgesIn(directory) && this.mount.session.leaseEpoch === epoch
  }

  /** Its programs have ended. */
  async leave(): Promise<void> {
    this.done = this.#parts.program.length
    await this.mount.session.close()
    this.hasLeft = true
  }

  #begin(): void {
    this.isBusy = true
    void this.run(this.#parts.program[this.done]!).finally(() => {
      this.isBusy = false
      this.done++
    })
  }

  #thaw(): void {
    this.isFrozen = false
    if (!this.hasLapsed) return
    this.isInDoubt = true
    this.way.cut()
  }

  async run(action: Action): Promise<void> {
    if (action.does === 'look') {
      const end = this.#parts.beginLook(inodeOf(action.in))
      await this.mount.sharing.look(inodeOf(action.in))
      return end()
    }
    const tag = this.#tag++
    try {
      await this.mount.change(() => opOf(action, tag, this.#findMade()))
    } catch (error) {
      if (!isFsError(error)) throw error
    }
  }

  #findMade(): Ino | undefined {
    return directoriesIn(this.mount.view).find((ino) => ino >= tagsEach)
  }

  #noteAcknowledged(op: Op, directories: readonly Ino[]): void {
    const { onAcknowledge } = this.#parts
    const epoch = this.mount.session.leaseEpoch
    const [tag, by] = [tagOf(op), this.who]
    const acknowledged: Acknowledged = { tag, by, directories, epoch, outcome: 'pending' }
    this.acknowledged.push(acknowledged)
    onAcknowledge(acknowledged)
  }

  #noteSettled(op: Op, outcome: { readonly seq: number } | Error): void {
    const acknowledged = this.acknowledged.find(({ tag }) => tag === tagOf(op))!
    acknowledged.outcome = outcome instanceof Error ? { lost: outcome.message } : outcome
  }
}

export function inodeOf(place: Place): Ino {
  return (2 + places.indexOf(place)) as Ino
}

function timeOf(tag: number): Time {
  return { sec: tag, nsec: 0 }
}

function opOf(action: Action, tag: number, made: Ino | undefined): Op {
  const time = timeOf(tag)
  const parent = inodeOf(action.in)
  const name = action.in as string as Name
  switch (action.does) {
    case 'create':
      return createOp(tag, parent, `f${tag}`, 'file')
    case 'create in made':
      if (made === undefined) throw new FsError('ENOENT')
      return createOp(tag, made, `f${tag}`, 'file')
    case 'contend':
      return createOp(tag, parent, 'x', 'file')
    case 'mkdir':
      return createOp(tag, parent, `d${tag}`, 'directory')
    case 'remove':
      return { type: 'unlink', time, parent, name }
    case 'move': {
      const [newParent, newName] = [inodeOf(action.to), `from-${name}` as Name]
      return { type: 'rename', time, parent, name, newParent, newName, mode: 'replace' }
    }
    case 'move directory': {
      const [newParent, newName] = [inodeOf(action.to), `was-${name}` as Name]
      return { type: 'rename', time, parent: rootIno, name, newParent, newName, mode: 'replace' }
    }
    case 'look':
      throw new FsError('EINVAL')
  }
}
