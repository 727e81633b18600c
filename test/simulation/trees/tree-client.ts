import { type Op, type Time, type View } from '@cairn/core'
import { BareMount } from '@cairn/mount/testing'
import {
  type Ino,
  isCairnError,
  isFsError,
  type Name,
  rootIno,
  type SessionId,
} from '@cairn/protocol'
import type { Connect } from '@cairn/mount'
import type { Chance } from '../../model/chance.ts'
import type { Scheduler } from '../scheduler.ts'
import { Freezer } from './freezer.ts'
import { type Acknowledged, directoriesIn, type Judged, tagOf } from './promises.ts'

export interface TreeClientParts {
  readonly who: string
  readonly connect: Connect
  readonly scheduler: Scheduler
  readonly chance: Chance
  readonly nextTag: () => number
  readonly note: (line: () => string) => void
  readonly onAcknowledge: (client: TreeClient, acknowledged: Acknowledged) => void
  /** Before a look. What it gives is called after it. */
  readonly beginLook: (client: TreeClient, directory: Ino) => () => void
  readonly onFault: (what: string) => void
  /** Before a change. What it gives is called if there was no room for it. */
  readonly begin: () => () => void
}

/** How long what was acknowledged may wait before it is sent. */
const sendMsMax = 40
/** How often a mount that is closed looks whether its programs have ended. */
const idleMs = 5
const contested = ['LOCK', 'x'] as const
const depthMax = 4

/** A sandbox: a mount, and programs that make, move and remove files and directories in a tree that others change, too. */
export class TreeClient implements Judged {
  readonly who: string
  readonly mount: BareMount
  readonly freezer: Freezer
  readonly acknowledged: Acknowledged[] = []
  isDead = false
  isClosing = false
  isClosed = false
  /** Changes and looks that are not answered. */
  open = 0
  readonly #parts: TreeClientParts
  /** As the kernel does: of two changes that concern one inode, the second waits. */
  readonly #locked = new Set<Ino>()

  constructor(parts: TreeClientParts) {
    this.#parts = parts
    const { who, connect, scheduler, chance } = parts
    this.who = who
    this.freezer = new Freezer(scheduler)
    this.mount = new BareMount({
      connect: this.freezer.through(connect),
      clock: this.freezer,
      random: () => chance.below(1000) / 1000,
      workspace: 'w',
      isInDoubt: () => this.freezer.isInDoubt,
      onAcknowledge: (op, directories) => this.#noteAcknowledged(op, directories),
      onSettled: (op, outcome) => this.#noteSettled(op, outcome),
      later: (send) => this.#sendLater(send),
    })
  }

  get id(): SessionId {
    return this.mount.session.id as SessionId
  }

  get runs(): boolean {
    return !this.isDead && !this.isClosed && !this.freezer.isFrozen
  }

  get isSettled(): boolean {
    if (this.isDead || this.isClosing) return this.isDead || this.isClosed
    return this.open === 0 && this.mount.unsettled === 0
  }

  acknowledgesIn(directory: Ino, epoch: number): boolean {
    if (this.isDead || this.isClosed || this.freezer.isInDoubt) return false
    return this.mount.acknowledgesIn(directory) && this.mount.session.leaseEpoch === epoch
  }

  /** Some program does something. */
  act(): void {
    this.#follow(this.mount.withLoads(() => this.#act()))
  }

  /** Throws ImageMiss. */
  #act(): void {
    const { chance } = this.#parts
    const directories = directoriesIn(this.mount.view)
    if (chance.oneIn(4)) return this.#look(chance.choose(directories))
    for (let left = 1 + chance.below(2); left > 0; left--) this.#change(directories)
  }

  crash(): void {
    this.isDead = true
    this.mount.session.abandon()
  }

  async close(): Promise<void> {
    this.isClosing = true
    while (this.open > 0) await this.freezer.sleep(idleMs)
    await this.mount.session.close()
    this.isClosed = true
  }

  #look(directory: Ino): void {
    const end = this.#parts.beginLook(this, directory)
    this.#follow(this.mount.sharing.look(directory).then(end))
  }

  #change(directories: readonly Ino[]): void {
    const { nextTag, note } = this.#parts
    const op = this.#choose(nextTag(), directories)
    const inodes = lockedBy(this.mount.view, op)
    if (inodes.some((ino) => this.#locked.has(ino))) return
    for (const ino of inodes) this.#locked.add(ino)
    note(() => `${this.who} #${tagOf(op)} ${describeOp(op)}`)
    const noteFull = this.#parts.begin()
    const changed = this.mount
      .change(() => op)
      .then(
        () => note(() => `${this.who} #${tagOf(op)} is done`),
        (error: unknown) => {
          note(() => `${this.who} #${tagOf(op)}: ${String(error)}`)
          if (isFsError(error, 'EDQUOT')) noteFull()
          throw error
        },
      )
    this.#follow(
      changed.finally(() => {
        for (const ino of inodes) this.#locked.delete(ino)
      }),
    )
  }

  #follow(doing: Promise<void>): void {
    this.open++
    doing
      .catch((error: unknown) => {
        // It is gone since it was found, or the store is.
        const isOrdinary = isFsError(error) || isCairnError(error, 'storage_unavailable')
        if (!isOrdinary) this.#parts.onFault(`${this.who}: ${String(error)}`)
      })
      .finally(() => this.open--)
  }

  #choose(tag: number, directories: readonly Ino[]): Op {
    const { chance } = this.#parts
    const { view } = this.mount
    const [parent, other] = [chance.choose(directories), chance.choose(directories)]
    const entry = chance.choose(view.entries(parent, undefined, 100))
    const time = timeOf(tag)
    const fresh = (chance.oneIn(5) ? chance.choose(contested) : `n${tag}`) as Name
    const kind = chance.below(12)
    if (!entry || kind < 4) return createOp(tag, parent, fresh, 'file')
    const { name, ino } = entry
    const isDirectory = entry.kind === 'directory'
    if (kind < 6 && depthOf(view, parent) < depthMax)
      return createOp(tag, parent, fresh, 'directory')
    if (kind < 8) return { type: isDirectory ? 'rmdir' : 'unlink', time, parent, name }
    if (kind === 8 && !isDirectory) return { type: 'link', time, ino, parent: other, name: fresh }
    if (kind === 9) return { type: 'setattr', time, ino, mode: 0o700 + (tag % 64) }
    const [newParent, newName] = [chance.oneIn(3) ? parent : other, fresh]
    return { type: 'rename', time, parent, name, newParent, newName, mode: 'replace' }
  }

  #sendLater(send: () => void): void {
    const { chance } = this.#parts
    if (chance.oneIn(3)) this.freezer.run(send)
    else this.freezer.after(chance.below(sendMsMax), send)
  }

  #noteAcknowledged(op: Op, directories: readonly Ino[]): void {
    const epoch = this.mount.session.leaseEpoch
    const [tag, by] = [tagOf(op), this.who]
    const acknowledged: Acknowledged = { tag, by, directories, epoch, outcome: 'pending' }
    this.acknowledged.push(acknowledged)
    this.#parts.onAcknowledge(this, acknowledged)
  }

  #noteSettled(op: Op, outcome: { readonly seq: number } | Error): void {
    const acknowledged = this.acknowledged.findLast(({ tag }) => tag === tagOf(op))!
    acknowledged.outcome = outcome instanceof Error ? { lost: outcome.message } : outcome
  }
}

/** The inodes that the kernel locks until the change is answered. */
function lockedBy(view: View, op: Op): readonly Ino[] {
  if (op.type === 'create') return [op.parent]
  if (op.type === 'link') return [op.parent, op.ino]
  if (op.type === 'unlink' || op.type === 'rmdir')
    return [op.parent, ...inodeAt(view, op.parent, op.name)]
  if (op.type !== 'rename') return 'ino' in op ? [op.ino] : []
  const ends = [inodeAt(view, op.parent, op.name), inodeAt(view, op.newParent, op.newName)]
  return [op.parent, op.newParent, ...ends.flat()]
}

function inodeAt(view: View, parent: Ino, name: Name): readonly Ino[] {
  const dentry = view.child(parent, name)
  return dentry ? [dentry.ino] : []
}

function depthOf(view: View, ino: Ino): number {
  let depth = 0
  for (let at = ino; at !== rootIno; depth++) at = view.inode(at)?.home?.parent ?? rootIno
  return depth
}

function timeOf(tag: number): Time {
  return { sec: tag, nsec: 0 }
}

function describeOp(op: Op): string {
  const { time: _, ...rest } = { time: undefined, ...op }
  return Object.values(rest).join(' ')
}

const owner = { uid: 0, gid: 0, rdev: 0, target: undefined }

export function createOp(tag: number, parent: Ino, name: string, kind: 'file' | 'directory'): Op {
  const mode = kind === 'file' ? 0o644 : 0o755
  const rest = { time: timeOf(tag), ino: tag as Ino, kind, mode, ...owner }
  return { type: 'create', parent, name: name as Name, ...rest }
}
