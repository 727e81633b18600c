import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Op } from '@cairn/core'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { create, Questions, ServerTree, time, unlink } from '../../test/server-tree.ts'
import { until } from '../../test/waiting.ts'
import { Contents } from '../data/contents.ts'
import { Segments } from '../data/segments.ts'
import { loadFuseIo } from '../fuse/native.ts'
import { Image } from '../image/image.ts'
import { Loader } from '../image/loader.ts'
import { LogPosition } from '../image/log-position.ts'
import type { ChangesAnswer } from '../session/answers.ts'
import { Follower } from './follower.ts'

const io = await loadFuseIo()

const file = 7 as Ino
const directory = 9 as Ino
const name = (text: string): Name => text as Name
const root = { what: 'directory', ino: rootIno } as const

function write(ino: Ino, offset: number, text: string): Op {
  const data = { type: 'bytes', bytes: Buffer.from(text) } as const
  return { type: 'write', time, ino, offset, data, dropPrivileges: false }
}

function link(to: string, parent: Ino): Op {
  return { type: 'link', time, ino: file, parent, name: name(to) }
}

/** A mount without its kernel and its session. */
class Following {
  readonly path: string = mkdtempSync(join(tmpdir(), 'cairn-follower-'))
  readonly server: ServerTree = new ServerTree()
  readonly questions: Questions = new Questions(this.server)
  readonly image: Image = new Image()
  readonly position: LogPosition = new LogPosition()
  readonly loader: Loader = new Loader({
    image: this.image,
    position: this.position,
    ask: this.questions.ask,
    look: async () => undefined,
    forgotten: async () => undefined,
    count: async () => undefined,
    nowMs: () => 0,
    guessedEntries: 0,
  })
  readonly contents: Contents
  readonly follower: Follower
  /** What the kernel was told to forget. */
  readonly forgotten: string[] = []
  readonly seen: number[] = []
  readonly acknowledged = new Set<number>()
  /** Files that are others to the kernel. */
  readonly replaced: Ino[] = []
  /** What the kernel was told of. */
  readonly known = new Set<Ino>([rootIno, file])
  /** A moment ago. */
  readonly newlyTold = new Set<Ino>()
  canReplace = true
  doubts = 0
  resets = 0
  changes: PromiseWithResolvers<ChangesAnswer> = Promise.withResolvers()
  /** Resolves when the kernel is being notified. */
  telling: Promise<void> = Promise.resolve()
  /** When the kernel has forgotten it. */
  settled: Promise<void> = Promise.resolve()

  constructor() {
    const segments = new Segments({ directory: this.path, bytesMax: 1 << 20, io })
    this.contents = new Contents({
      segments,
      fetch: async (_ino, _offset, length) => Buffer.alloc(length, 's'),
      whenSettled: () => Promise.resolve(),
      keep: (bytes) => segments.append([bytes]),
    })
    this.follower = new Follower({
      image: this.image,
      contents: this.contents,
      loader: this.loader,
      position: this.position,
      caches: {
        attributes: (ino) => this.forgotten.push(`attributes of ${ino}`),
        bytes: (ino, from, length) => this.forgotten.push(`${ino} from ${from} for ${length}`),
        isForgetting: () => false,
        forgotten: () => Promise.resolve(),
        grown: (ino, size, byte) => this.forgotten.push(`${ino} is ${size} long, to ${byte}`),
        entry: (parent, entry) => this.forgotten.push(`${entry} in ${parent}`),
        lookedUp: (parent, ino) => this.forgotten.push(`${ino} looked up in ${parent}`),
        expire: () => undefined,
        canExpire: () => true,
        telling: () => this.telling,
        settled: () => this.settled,
        filesSettled: () => this.settled,
      },
      isAcknowledged: (number) => this.acknowledged.delete(number),
      changesAt: () => this.changes.promise,
      keep: (bytes) => segments.append([bytes]),
      seen: (seq) => this.seen.push(seq),
      onMade: () => undefined,
      onCurrent: () => undefined,
      reset: () => this.resets++,
      nodes: {
        isKnown: (ino) => this.known.has(ino),
        isNew: (ino) => this.newlyTold.has(ino),
        isFile: (ino) => ino === file,
        replace: (ino) => {
          if (this.canReplace) this.replaced.push(ino)
          return this.canReplace
        },
        replaceAll: () => this.replaced.push(file),
      },
      doubt: () => this.doubts++,
    })
  }

  /** Brings the root into the image. */
  async load(): Promise<void> {
    const inode = this.loader.load({ what: 'inode', ino: rootIno })
    await this.questions.deliver()
    const directory = this.loader.load(root)
    await this.questions.deliver()
    await Promise.all([inode, directory])
  }

  /** Something that another session writes. */
  hear(...ops: Op[]): void {
    this.follower.onBatch(this.server.write(...ops))
  }

  names(ino: Ino = rootIno): string[] {
    return [...this.image.directory(ino)].map((entry) => entry.name)
  }
}

/** An own change of names. */
const made = create('own', 11)

let mount: Following

/** The root is known, with a file and a directory that is not. */
beforeEach(async () => {
  mount = new Following()
  mount.server.write(create('f', file), create('d', directory, 'directory'))
  mount.follower.begin(mount.server.seq)
  await mount.load()
})
afterEach(() => rmSync(mount.path, { recursive: true }))

describe('a batch of others', () => {
  it('a new name: the kernel forgets that it was not there, and the listing', () => {
    mount.hear(create('g', 8))
    expect(mount.names()).toEqual(['d', 'f', 'g'])
    expect(mount.forgotten).toEqual(['g in 1', '1 from 0 for 0'])
  })

  it('a removed name of two: the kernel forgets the link count that the other shows', () => {
    mount.hear(link('g', rootIno))
    mount.forgotten.length = 0
    mount.hear(unlink('f'))
    expect(mount.image.inode(file)!.nlink).toBe(1)
    expect(mount.forgotten).toEqual(['f in 1', '1 from 0 for 0', 'attributes of 7'])
  })

  it('bytes of a file that the kernel may be looking up: it forgets what it is told of the file', () => {
    mount.newlyTold.add(file)
    mount.hear(write(file, 0, 'text'))
    expect(mount.forgotten).toContain('7 looked up in 1')
  })

  it('written bytes: these alone are forgotten, here and in the kernel', async () => {
    const inode = { ...mount.image.inode(file)!, size: 12 }
    mount.contents.of(file, inode).put(0, 12, { type: 'zeros' })
    mount.hear(write(file, 4, 'text'))
    expect(mount.image.inode(file)!.size).toBe(8)
    const grown = `7 is 8 long, to ${'t'.charCodeAt(0)}`
    expect(mount.forgotten).toEqual(['7 from 4 for 4', 'attributes of 7', grown])
    const bytes = await mount.contents.read(file, inode, 0, 12)
    expect(Buffer.from(bytes).toString()).toBe('\0\0\0\0ssss\0\0\0\0')
  })

  it('in a directory that is not known: the kernel is told, and nothing is made up', () => {
    mount.known.add(directory)
    mount.hear({ ...create('g', 8), parent: directory } as Op)
    expect(mount.forgotten).toEqual(['g in 9', '9 from 0 for 0'])
    expect(mount.image.knowsDirectory(directory)).toBe(false)
    expect(mount.image.knows(8 as Ino)).toBe(false)
  })

  // The kernel looks a name up under a lock that it needs to forget other names. The answer must not wait for that.
  it('a file that the kernel does not know yet: only its name is forgotten', () => {
    mount.hear(create('g', 8), write(8 as Ino, 0, 'text'))
    expect(mount.image.inode(8 as Ino)!.size).toBe(4)
    expect(mount.forgotten).toEqual(['g in 1', '1 from 0 for 0'])
  })

  it('in a directory that the kernel does not know: it is told nothing', () => {
    mount.hear({ ...create('g', 8), parent: directory } as Op)
    expect(mount.forgotten).toEqual([])
  })

  it('leaves what it does not touch', () => {
    const before = mount.image.inode(file)
    mount.hear(create('g', 8), { type: 'setattr', time, ino: directory, mode: 0o700 })
    expect(mount.image.inode(file)).toBe(before)
    expect(mount.forgotten.join()).not.toContain('7')
  })
})

describe('a name taken from an inode that is not known', () => {
  it('a name taken from an inode that is not known is doubted where the directory is not known', () => {
    mount.hear({ ...create('g', 8), parent: directory } as Op)
    expect(mount.doubts).toBe(0)
    mount.hear(unlink('g', directory))
    expect(mount.doubts).toBe(1)
  })

  it('a name taken from an inode that is not known is doubted, and its attributes are forgotten, where only the inode is known', () => {
    mount.known.add(8 as Ino)
    mount.hear({ ...create('g', 8), parent: directory } as Op)
    const { image } = mount
    const inode = { ...image.inode(file)!, home: { parent: directory, name: name('g') } }
    image.install({ ino: 8 as Ino, inode, links: [] })
    mount.hear(unlink('g', directory))
    expect(mount.doubts).toBe(1)
    expect(image.knows(8 as Ino)).toBe(false)
    expect(mount.forgotten.at(-1)).toBe('attributes of 8')
  })

  it('a name taken from an inode is not doubted where the directory is known, also when the name is new', () => {
    const to = { newParent: rootIno, newName: name('g'), mode: 'replace' } as const
    mount.hear({ type: 'rename', time, parent: rootIno, name: name('f'), ...to }, unlink('g'))
    expect(mount.doubts).toBe(0)
  })

  it('a name taken from an inode is not doubted when the inode has another name that is known', async () => {
    mount.hear(link('g', directory))
    mount.image.clear()
    await mount.load()
    mount.hear(unlink('g', directory))
    expect(mount.doubts).toBe(0)
    expect(mount.forgotten.at(-1)).toBe('attributes of 7')
  })
})

describe('what is on its way while a batch comes', () => {
  it('a directory is not older than the batch', async () => {
    mount.image.drop(rootIno)
    const loaded = mount.loader.load(root)
    mount.hear(create('g', 8))
    await mount.questions.deliver()
    expect(mount.image.knowsDirectory(rootIno)).toBe(false)
    await mount.questions.deliver()
    await mount.questions.deliver()
    await loaded
    expect(mount.names()).toEqual(['d', 'f', 'g'])
  })

  it('a directory from behind the batch has its changes once', async () => {
    const batch = mount.server.write(create('g', 8))
    mount.image.drop(rootIno)
    const loaded = mount.loader.load(root)
    await mount.questions.deliver()
    await mount.questions.deliver()
    mount.follower.onBatch(batch)
    await loaded
    expect(mount.names()).toEqual(['d', 'f', 'g'])
    expect(mount.image.inode(8 as Ino)!.nlink).toBe(1)
  })
})

describe('own batches', () => {
  it('an own batch that was acknowledged notifies no cache', () => {
    mount.acknowledged.add(1)
    mount.follower.onOwn(1, 2)
    expect(mount.position.seq).toBe(2)
    expect(mount.forgotten).toEqual([])
  })

  it('one that the server decided about is taken in at its place, when its receipt is there', async () => {
    const ops = [create('own', 8)]
    mount.server.write(...ops)
    mount.follower.onOwn(1, 2)
    mount.hear(create('later', 10))
    expect(mount.names()).toEqual(['d', 'f'])
    await mount.follower.whenApplied(2, ops)
    expect(mount.names()).toEqual(['d', 'f', 'own', 'later'])
    expect(mount.follower.isCurrent).toBe(true)
    expect(mount.forgotten).toEqual(['later in 1', '1 from 0 for 0'])
  })
})

describe('a change of the whole tree', () => {
  it('what it changed is forgotten, and batches behind it wait', async () => {
    mount.follower.onBatch(mount.server.changeRoot(unlink('f')))
    mount.hear(create('g', 8))
    expect(mount.position.seq).toBe(1)
    mount.changes.resolve({ inodes: [file], names: [{ parent: rootIno, name: name('f') }] })
    await until(() => mount.follower.isCurrent)
    expect(mount.image.knows(file)).toBe(false)
    expect(mount.forgotten).toContain('f in 1')
    await mount.load()
    expect(mount.names()).toEqual(['d', 'g'])
  })

  it('a file is another one under all its names, and programs that have it open keep its bytes', async () => {
    mount.hear(link('g', rootIno))
    mount.forgotten.length = 0
    mount.follower.onBatch(mount.server.changeRoot(write(file, 0, 'other')))
    mount.changes.resolve({ inodes: [file], names: [] })
    await until(() => mount.follower.isCurrent)
    expect(mount.replaced).toEqual([file])
    expect(mount.forgotten).toEqual(['f in 1', 'g in 1'])
  })

  it('a file that cannot be told apart any more: its bytes are forgotten', async () => {
    mount.canReplace = false
    mount.follower.onBatch(mount.server.changeRoot(write(file, 0, 'other')))
    mount.changes.resolve({ inodes: [file], names: [] })
    await until(() => mount.follower.isCurrent)
    expect(mount.forgotten).toEqual(['7 from 0 for 0'])
  })

  it('operations that may not be seen change files, and replace none', async () => {
    mount.follower.onBatch(mount.server.hide(write(file, 0, 'other')))
    mount.changes.resolve({ inodes: [file], names: [] })
    await until(() => mount.follower.isCurrent)
    expect(mount.replaced).toEqual([])
    expect(mount.forgotten).toEqual(['7 from 0 for 0'])
  })

  it('a removed name of two that is told without its inode', async () => {
    mount.hear(link('g', rootIno))
    mount.forgotten.length = 0
    mount.follower.onBatch(mount.server.changeRoot(unlink('f')))
    mount.changes.resolve({ inodes: [rootIno], names: [{ parent: rootIno, name: name('f') }] })
    await until(() => mount.follower.isCurrent)
    expect(mount.forgotten).toContain('attributes of 7')
    expect(mount.image.knows(file)).toBe(false)
  })

  it('everything is forgotten, also what is loading, where there are too many changes to tell', async () => {
    mount.image.drop(rootIno)
    const loaded = mount.loader.load(root)
    mount.follower.onBatch(mount.server.changeRoot(unlink('f')))
    mount.changes.reject(new Error('too large'))
    await until(() => mount.follower.isCurrent)
    expect([mount.resets, mount.replaced]).toEqual([1, [file]])
    await mount.questions.deliver()
    expect(mount.image.knowsDirectory(rootIno)).toBe(false)
    await mount.questions.deliver()
    await loaded
    expect(mount.names()).toEqual(['d'])
  })
})

describe('a kernel that is slow to forget', () => {
  const never = new Promise<void>(() => undefined)
  beforeEach(() => void vi.useFakeTimers())
  afterEach(() => void vi.useRealTimers())

  it('a kernel that is slow to forget is waited for, however long it takes', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    mount.settled = promise
    mount.hear(create('g', 8))
    await vi.advanceTimersByTimeAsync(60_000)
    expect(mount.seen).toEqual([])
    expect(mount.position.settledSeq).toBe(1)
    resolve()
    await mount.position.whenSettled(2)
    expect(mount.position.settledSeq).toBe(2)
    expect(mount.seen).toEqual([2])
  })

  it('a kernel that is slow to forget is not waited for by changes that an own later one holds up, which waits for the others', async () => {
    mount.settled = never
    mount.hear(create('g', 8))
    mount.hear(create('h', 10))
    const shown = Promise.withResolvers<void>()
    const answered = mount.follower.whileShown(3, made, () => shown.promise)
    await vi.advanceTimersByTimeAsync(60_000)
    // Later ones wait.
    expect(mount.seen).toEqual([2])
    expect(mount.position.settledSeq).toBe(1)
    shown.resolve()
    await answered
  })

  it('a kernel that is slow to forget is waited for again when the own change is answered', async () => {
    mount.settled = never
    mount.hear(create('g', 8))
    await mount.follower.whileShown(3, made, async () => undefined)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(mount.seen).toEqual([])
  })

  it('a kernel that is slow to forget is not given up on before it was told', async () => {
    const { promise, resolve } = Promise.withResolvers<void>()
    mount.telling = promise
    mount.settled = never
    mount.hear(create('g', 8))
    void mount.follower.whileShown(3, made, () => never)
    await vi.advanceTimersByTimeAsync(60_000)
    expect(mount.seen).toEqual([])
    resolve()
    await vi.advanceTimersByTimeAsync(60_000)
    expect(mount.seen).toEqual([2])
  })
})
