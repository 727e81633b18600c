import { Branch, decodeBatch, directoriesOf, type LogRow, type Op, type View } from '@cairn/core'
import { type BareMount, wholeTree } from '@cairn/mount/testing'
import { type BranchId, type Ino, rootIno, type SessionId } from '@cairn/protocol'
import type { Disk } from '../stores.ts'

type Tree = ReturnType<typeof wholeTree>

/** Something that a mount told its program is done, before the server had it. */
export interface Acknowledged {
  readonly tag: number
  readonly by: string
  readonly directories: readonly Ino[]
  readonly epoch: number
  outcome: 'pending' | { readonly seq: number } | { readonly lost: string }
}

/** A client whose promises are judged. */
export interface Judged {
  readonly who: string
  readonly id: SessionId
  readonly mount: BareMount
  readonly acknowledged: readonly Acknowledged[]
  /** It is there, and does not stand still. */
  readonly runs: boolean
  /** Whether it tells its program, in that epoch, that a change there is done. */
  acknowledgesIn(directory: Ino, epoch: number): boolean
}

export interface JudgedWorld<Client extends Judged = Judged> {
  readonly clients: readonly Client[]
  readonly disk: Disk
  /** A session that did not answer may have been passed over: others may show what it has not forgotten. */
  readonly mayPassOver: boolean
  /** The lease of that client may have been taken by force. */
  mayLose(client: Client): boolean
  /** The quota; undefined for none. */
  readonly maxFiles?: number | undefined
}

/** What must be true of sessions that share a tree, whatever happens to them. */
export class Promises<Client extends Judged = Judged> {
  readonly faults: string[] = []
  /** What the log makes of the tree. */
  tree: Tree = wholeTree()
  /** A commit changed it in one step, and it is being read again. */
  #isStale = false
  length = 0
  readonly #world: JudgedWorld<Client>
  /** How many files and directories there are, by the place in the log. */
  readonly #counts = new Map<number, number>()
  /** The last thing in the log that each client acknowledged. */
  readonly #last = new Map<string, number>()

  constructor(world: JudgedWorld<Client>) {
    this.#world = world
  }

  async watch(branch: BranchId): Promise<void> {
    const { log } = this.#world.disk
    const append = log.append.bind(log)
    log.append = async (id, rows) => {
      await append(id, rows)
      if (id === branch) for (const row of rows) this.#judgeRow(branch, row)
    }
    await this.#readAgain(branch)
  }

  /** No other client may take the directory for its own, nor for known. */
  judgeAcknowledged(client: Client, { directories, epoch, tag }: Acknowledged): void {
    for (const other of this.#world.clients.filter((each) => each !== client))
      for (const ino of directories) {
        const what = `${client.who} acknowledges #${tag} in ${ino}`
        if (other.acknowledgesIn(ino, epoch)) this.fault(`${what}, as ${other.who} may`)
        const takesForKnown = isServed(other) && other.mount.takesForKnown(ino)
        if (takesForKnown && !this.#world.mayPassOver)
          this.fault(`${what}, which ${other.who} takes for known`)
      }
  }

  /** What was acknowledged there before must be seen after it, unless it was lost with its session. */
  beginLook(client: Client, directory: Ino): () => void {
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
        if (this.#mayLose(by)) continue
        this.fault(`${client.who} looks into ${directory} and misses #${tag}`)
      }
    }
  }

  /** Nothing is on its way: all is where it belongs. */
  judgeEnd(): void {
    this.judgeRefused()
    for (const client of this.#world.clients.filter(({ runs }) => runs)) {
      const { who, acknowledged, mount } = client
      for (const { tag, outcome } of acknowledged) {
        if (outcome === 'pending') this.fault(`${who}'s #${tag} has no answer`)
        const isLost = typeof outcome === 'object' && 'lost' in outcome
        if (isLost && !this.#mayLose(who)) this.fault(`${who}'s #${tag} is lost: ${outcome.lost}`)
      }
      if (isServed(client) && mount.seq !== this.length)
        this.fault(`${who} has seen ${mount.seq} of ${this.length}`)
    }
  }

  /** All clients together stay within the quota at each place in the log. */
  #judgeQuota(): void {
    const { maxFiles } = this.#world
    if (maxFiles === undefined) return
    const inodes = directoriesIn(this.tree).flatMap((ino) =>
      this.tree.entries(ino, undefined, 1000),
    )
    const count = new Set(inodes.map(({ ino }) => ino)).size
    this.#counts.set(this.length, count)
    if (count > maxFiles) this.fault(`${count} files and directories, and the quota is ${maxFiles}`)
  }

  /** A program was told that the quota is used up, for a change that it began when the log was that long. */
  judgeFull(who: string, begun: number): void {
    if (this.#isStale) return
    const counts = [...this.#counts].filter(([seq]) => seq >= begun).map(([, count]) => count)
    // Not known before the first batch, nor behind a commit that is being read.
    const most = Math.max(...counts, this.#counts.size === 0 ? Infinity : 0)
    if (most < this.#world.maxFiles!)
      this.fault(`${who} is told EDQUOT where ${most} of ${this.#world.maxFiles} files are used`)
  }

  /** Those that know the whole tree know the same one. */
  judgeKnown(): void {
    for (const { who, mount } of this.#world.clients.filter(isServed))
      if (mount.isWhole && listed(mount.view) !== listed(this.tree))
        this.fault(`${who} knows ${listed(mount.view)}, not ${listed(this.tree)}`)
  }

  /** All mounts show one tree. */
  async judgeTrees(): Promise<void> {
    const { clients } = this.#world
    const trees = clients.filter(isServed).map(async ({ who, mount }) => {
      const shown = await mount.withLoads(() => {
        for (const ino of directoriesIn(mount.view)) mount.sharing.requireFresh(ino)
        return listed(mount.view)
      })
      if (shown !== listed(this.tree)) this.fault(`${who} shows ${shown}, not ${listed(this.tree)}`)
    })
    await Promise.all(trees)
  }

  /** The server takes what was acknowledged, unless the epoch is over. */
  judgeRefused(): void {
    for (const { who, mount } of this.#world.clients)
      for (const why of mount.refused.splice(0))
        this.fault(`${who}'s change is refused: ${String(why)}`)
  }

  fault(what: string): void {
    this.faults.push(what)
  }

  #mayLose(who: string): boolean {
    const client = this.#world.clients.find((each) => each.who === who)!
    return this.#world.mayLose(client)
  }

  /** It comes behind all that was acknowledged before by the same client, and concerns no directory of another one. */
  #judgeRow(branch: BranchId, row: LogRow): void {
    const { body, session, epoch, seq } = decodeBatch(row.bytes)
    this.length = seq
    if (body.type === 'root') void this.#readAgain(branch)
    if (body.type === 'ops') this.#judgeOps(body.ops, { session, seq, epoch })
    if (!this.#isStale) this.#judgeQuota()
  }

  #judgeOps(
    ops: readonly Op[],
    { session, seq, epoch }: { session: SessionId; seq: number; epoch: number },
  ): void {
    const author = this.#world.clients.find(({ id }) => id === session)
    for (const op of ops) {
      if (author) this.#judgeOrder(author, op)
      if (this.#isStale) continue
      this.#judgePlace(author, op, { seq, epoch })
      this.tree.absorb(this.tree.plan([op]))
    }
  }

  #judgePlace(
    author: Judged | undefined,
    op: Op,
    { seq, epoch }: { seq: number; epoch: number },
  ): void {
    const others = this.#world.clients.filter((client) => client !== author)
    for (const ino of directoriesOf(this.tree, op))
      for (const { who } of others.filter((other) => other.acknowledgesIn(ino, epoch)))
        this.fault(`batch ${seq} of ${author?.who ?? 'a request'} is in ${ino} of ${who}`)
  }

  #judgeOrder({ id, acknowledged }: Judged, op: Op): void {
    const index = acknowledged.findLastIndex(({ tag }) => tag === tagOf(op))
    if (index < 0) return
    if (index <= (this.#last.get(id) ?? -1)) this.fault(`#${tagOf(op)} is out of order`)
    this.#last.set(id, index)
  }

  async #readAgain(branch: BranchId): Promise<void> {
    this.#isStale = true
    for (let seq = -1; seq !== this.length;) {
      const { stores } = this.#world.disk.open()
      const { head } = await Branch.open(stores, branch)
      seq = head.position.seq
      this.length = Math.max(this.length, seq)
      this.tree = await stores.nodes.read(() => copyOf(head.view))
    }
    this.#isStale = false
    this.#judgeQuota()
  }
}

function copyOf(view: View): Tree {
  const tree = wholeTree()
  tree.clear()
  const install = (ino: Ino): void => {
    const names = view.entries(ino, undefined, 1000)
    const entries = names.map((entry) => {
      const links = view.links(entry.ino)
      return { ...entry, inode: view.inode(entry.ino)!, links, outdated: false }
    })
    tree.installDirectory(ino, entries)
    for (const entry of names) if (entry.kind === 'directory') install(entry.ino)
  }
  tree.install({ ino: rootIno, inode: view.inode(rootIno)!, links: [] })
  install(rootIno)
  return tree
}

/** It is not cut off. One that is shows what it knows. */
function isServed({ runs, mount }: Judged): boolean {
  return runs && mount.session.standing !== 'waiting'
}

/** Its time says which operation it is. */
export function tagOf(op: Op): number {
  return 'time' in op ? op.time.sec : 0
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
