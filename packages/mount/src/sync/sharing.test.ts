import type { Inode, Op } from '@cairn/core'
import { type Ino, type Name, Writer } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { ImageMiss } from '../image/miss.ts'
import { SharingClient } from './sharing.ts'

const [d, e] = [2, 3] as [Ino, Ino]

/** The server's side of one mount: it answers when a test says so. */
class Server {
  readonly asked: { readonly text: string; readonly answer: (bytes: Uint8Array) => void }[] = []

  ask = (question: { readonly type: string; readonly inos: readonly Ino[] }): Promise<Uint8Array> =>
    new Promise((answer) => {
      this.asked.push({ text: `${question.type} ${question.inos.join(' ')}`.trim(), answer })
    })

  async answer(...bytes: number[]): Promise<void> {
    const writer = new Writer()
    for (const byte of bytes) writer.varint(byte)
    this.asked.shift()!.answer(writer.finish())
    await new Promise((resolve) => setImmediate(resolve))
  }
}

describe('the directories of a mount', () => {
  let server: Server
  let sharing: SharingClient
  /** What the kernel was told to forget. */
  let forgotten: string[]
  /** What the kernel does not know. */
  let unknown: Set<Ino>
  /** What it was told of a moment ago. */
  let newlyTold: Set<Ino>

  beforeEach(() => {
    server = new Server()
    forgotten = []
    unknown = new Set()
    newlyTold = new Set()
    sharing = open(true)
  })

  const open = (shares: boolean): SharingClient =>
    new SharingClient({
      image: {
        inode: () => ({ kind: 'directory' }) as Inode,
        links: () => [],
        child: () => undefined,
        blockFrom: () => undefined,
        entries: () => [],
        knowsDirectory: () => true,
        *toldNames() {
          yield { name: 'f' as Name, dentry: { ino: 9 as Ino, kind: 'file' } }
          yield { name: 'absent' as Name, dentry: undefined }
        },
      },
      caches: {
        attributes: (ino) => forgotten.push(`attributes ${ino}`),
        bytes: (ino) => forgotten.push(`bytes ${ino}`),
        entry: (parent, name) => forgotten.push(`drop ${parent}/${name}`),
        isForgetting: () => false,
        forgotten: () => Promise.resolve(),
        grown: () => undefined,
        lookedUp: (parent, ino) => forgotten.push(`${ino} looked up in ${parent}`),
        expire: (parent, name) => forgotten.push(`${parent}/${name}`),
        canExpire: () => true,
        telling: () => Promise.resolve(),
        filesSettled: () => Promise.resolve(),
        settled: () => Promise.resolve(),
      },
      isKnown: (ino) => !unknown.has(ino),
      isNew: (ino) => newlyTold.has(ino),
      ask: server.ask,
      whenReached: () => Promise.resolve(),
      whenSent: () => Promise.resolve(),
      forgetInKernel: () => forgotten.push('everything'),
      forgetDropped: () => forgotten.push('what was dropped'),
      shares,
    })

  const create = (parent: Ino): Op => ({ type: 'create', parent }) as Op

  it('the directories of a mount are shown only after a look, beside a holder', async () => {
    sharing.onShared(true, 0)
    expect(() => sharing.requireFresh(d)).toThrow(ImageMiss)
    const looked = sharing.look(d)
    await server.answer(7)
    await looked
    sharing.requireFresh(d)
    expect(sharing.isFresh(e)).toBe(false)
  })

  it('the directories of a mount are all shown where no other mount holds the lease', async () => {
    sharing.onShared(false, 0)
    await Promise.resolve()
    sharing.requireFresh(d)
  })

  it('the directories of a mount are looked at again when they must be forgotten while the answer is on its way', async () => {
    sharing.onShared(true, 0)
    const looked = sharing.look(d)
    await sharing.forget([d])
    await server.answer(7)
    expect(server.asked.map(({ text }) => text)).toEqual(['look 2'])
    await server.answer(8)
    await looked
  })

  it('directories that are forgotten are forgotten by the kernel: names, names that were not there, files', async () => {
    await sharing.forget([d])
    expect(forgotten).toEqual(['drop 2/f', 'bytes 9', 'drop 2/absent', 'bytes 2'])
  })

  it('directories that are forgotten hold files that the kernel may be looking up: it forgets what it is told of them', async () => {
    newlyTold = new Set([9 as Ino])
    await sharing.forget([d])
    expect(forgotten).toEqual([
      'drop 2/f',
      '9 looked up in 2',
      'bytes 9',
      'drop 2/absent',
      'bytes 2',
    ])
  })

  it('directories that are forgotten cost nothing where the kernel knows nothing', async () => {
    unknown = new Set([9 as Ino])
    await sharing.forget([d])
    expect(forgotten).toEqual(['drop 2/absent', 'bytes 2'])
  })

  it('a file that was moved to a directory the kernel does not know is forgotten', async () => {
    unknown = new Set([d])
    await sharing.forget([d])
    expect(forgotten).toEqual(['bytes 9'])
  })

  it('belong to the only writer, until it gives one back; it gets it back by a claim', async () => {
    sharing.onLease(true, true, 0)
    expect(sharing.findUnclaimed(create(d))).toEqual([])
    await sharing.yield([d])
    expect([sharing.findUnclaimed(create(d)), sharing.findUnclaimed(create(e))]).toEqual([[d], []])
    const claimed = sharing.claim([d])
    await server.answer(1, 7)
    expect([await claimed, sharing.findUnclaimed(create(d))]).toEqual([true, []])
  })

  it('a holder among others shows directories that it claimed or made', async () => {
    sharing.onLease(false, true, 0)
    sharing.noteMade(e)
    expect([sharing.findUnclaimed(create(d)), sharing.findUnclaimed(create(e))]).toEqual([[d], []])
  })

  it('stay given back when they are asked for while a claim is on its way', async () => {
    sharing.onLease(false, true, 0)
    const claimed = sharing.claim([d])
    await sharing.yield([d])
    await server.answer(1, 7)
    expect([await claimed, sharing.isMine(d)]).toEqual([false, false])
  })

  it('directories that others make while this mount holds the lease are theirs, and shown after a look', async () => {
    sharing.onLease(true, true, 0)
    await Promise.resolve()
    sharing.noteMadeElsewhere(e)
    expect([sharing.findUnclaimed(create(d)), sharing.findUnclaimed(create(e))]).toEqual([[], [e]])
    expect(() => sharing.requireFresh(e)).toThrow(ImageMiss)
    sharing.requireFresh(d)
  })

  it('a mount that only follows the log needs no look at directories that others make', () => {
    const reader = open(false)
    reader.noteMadeElsewhere(e)
    reader.requireFresh(e)
    reader.onLease(true, 'joined', 0)
    expect(reader.findUnclaimed(create(e))).toEqual([])
  })

  it('a holder that joins others shows directories that it claims or makes, and others after a look', async () => {
    sharing.onShared(true, 0)
    sharing.onLease(false, 'joined', 0)
    await Promise.resolve()
    expect(() => sharing.requireFresh(d)).toThrow(ImageMiss)
    const claimed = sharing.claim([d])
    await server.answer(1, 7)
    expect([await claimed, sharing.findUnclaimed(create(d))]).toEqual([true, []])
    sharing.requireFresh(d)
    sharing.noteMade(e)
    sharing.requireFresh(e)
    await sharing.forget([d])
    expect(() => sharing.requireFresh(d)).toThrow(ImageMiss)
  })

  it('the directories of a mount are claimed with all that an operation concerns, and given up where the server decides', async () => {
    sharing.onLease(false, true, 0)
    sharing.noteMade(e)
    const link = { type: 'rename', parent: d, newParent: e, name: 'f', newName: 'g' } as Op
    expect(sharing.findUnclaimed(link)).toEqual([d, e])
    const claimed = sharing.claim([d, e])
    await server.answer(0, 7)
    expect([await claimed, sharing.isMine(e)]).toEqual([false, false])
  })

  it('stay as they are when the same lease is heard of again', async () => {
    sharing.onLease(true, true, 0)
    await sharing.yield([d])
    sharing.onLease(true, false, 0)
    expect(sharing.isMine(d)).toBe(false)
  })

  it('the directories of a mount can be had all at once when the others have left', async () => {
    sharing.onLease(false, true, 0)
    sharing.onLease(true, false, 0)
    const claimed = sharing.claim([d])
    expect(server.asked[0]!.text).toBe('claim')
    await server.answer(1, 7)
    expect([await claimed, sharing.isMine(e), sharing.isUnshared]).toEqual([true, true, true])
  })
})
