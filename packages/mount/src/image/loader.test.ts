import type { Op } from '@cairn/core'
import { type Ino, type Name, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { create, Questions, ServerTree, time, unlink } from '../../test/server-tree.ts'
import { Image } from './image.ts'
import { Loader } from './loader.ts'
import { LogPosition } from './log-position.ts'
import { ImageMiss } from './miss.ts'

const file = 7 as Ino
const root = { what: 'directory', ino: rootIno } as const

describe('what the image misses', () => {
  let server: ServerTree
  let questions: Questions
  let image: Image
  let loader: Loader
  let nowMs: number

  beforeEach(() => {
    server = new ServerTree()
    server.write(create('f', file))
    questions = new Questions(server)
    nowMs = 0
    image = new Image()
    loader = new Loader({
      image,
      position: new LogPosition(),
      ask: questions.ask,
      look: async () => undefined,
      forgotten: async () => undefined,
      count: async () => undefined,
      nowMs: () => nowMs,
    })
    loader.advance(server.seq, [])
  })

  function names(): string[] {
    return [...image.directory(rootIno)].map(({ name }) => name)
  }

  it('what the image misses is loaded once for all who miss it, and again for who comes after', async () => {
    const loads = [loader.load(root), loader.load(root)]
    expect(questions.asked).toHaveLength(1)
    await questions.deliver()
    await Promise.all(loads)
    expect(names()).toEqual(['f'])
    void loader.load(root)
    expect(questions.asked).toHaveLength(2)
  })

  it('a new file that could not be planned is missed, not absent: the server may have it', () => {
    expect(() => image.plan([create('new', 9)])).toThrow(ImageMiss)
    expect(() => image.inode(9 as Ino)).toThrow(ImageMiss)
  })

  it('an inode and a directory of the same number are two things', () => {
    void loader.load(root)
    void loader.load({ what: 'inode', ino: rootIno })
    expect(questions.asked.map(({ type }) => type)).toEqual(['directory', 'inode'])
  })

  it('rejects for all who wait when the server does not answer, and is asked for by the next', async () => {
    let asked = 0
    const refused = new Loader({
      image,
      position: new LogPosition(),
      look: async () => undefined,
      forgotten: async () => undefined,
      count: async () => undefined,
      nowMs: () => nowMs,
      ask: async () => {
        asked++
        throw new Error('cut off')
      },
    })
    const loads = await Promise.allSettled([refused.load(root), refused.load(root)])
    expect(loads.map(({ status }) => status)).toEqual(['rejected', 'rejected'])
    await expect(refused.load(root)).rejects.toThrow('cut off')
    expect(asked).toBe(2)
  })

  it('a directory of several pages comes whole', async () => {
    for (const [index, name] of ['g', 'h', 'i'].entries()) server.write(create(name, 10 + index))
    loader.advance(server.seq, [])
    const loaded = loader.load(root)
    await questions.deliver()
    expect(image.knowsDirectory(rootIno)).toBe(false)
    await questions.deliver()
    await loaded
    expect(names()).toEqual(['f', 'g', 'h', 'i'])
    expect(questions.asked).toMatchObject([{ after: '' }, { after: 'g' }])
  })

  it('a directory that changed between two of its pages is read again', async () => {
    for (const [index, name] of ['g', 'h'].entries()) server.write(create(name, 10 + index))
    loader.advance(server.seq, [])
    const loaded = loader.load(root)
    server.write(unlink('f'))
    loader.advance(server.seq, [rootIno, file])
    await questions.deliver()
    await questions.deliver()
    expect(image.knowsDirectory(rootIno)).toBe(false)
    await questions.deliver()
    await loaded
    expect(names()).toEqual(['g', 'h'])
  })

  it('an answer from later waits until the image is there', async () => {
    server.write(create('g', 8))
    const loaded = loader.load(root)
    await questions.deliver()
    expect(image.knowsDirectory(rootIno)).toBe(false)
    loader.advance(server.seq, [rootIno])
    await loaded
    expect(names()).toEqual(['f', 'g'])
    expect(questions.asked).toHaveLength(1)
  })

  it('an inode that changed while it was on its way is asked for again', async () => {
    const loaded = loader.load({ what: 'inode', ino: file })
    server.write({ type: 'setattr', time, ino: file, mode: 0o600 })
    loader.advance(server.seq, [file])
    await questions.deliver()
    expect(image.knows(file)).toBe(false)
    await questions.deliver()
    await loaded
    expect(image.inode(file)!.mode).toBe(0o600)
  })

  it('a file that changed while its directory was loading is known by name only', async () => {
    const loaded = loader.load(root)
    server.write({ type: 'setattr', time, ino: file, mode: 0o600 })
    loader.advance(server.seq, [file])
    await questions.deliver()
    await loaded
    expect(image.child(rootIno, 'f' as Name)).toMatchObject({ ino: file, kind: 'file' })
    expect(image.knows(file)).toBe(false)
    expect(questions.asked).toHaveLength(1)
  })

  it('changes made while a subtree is loading are left out of the image', async () => {
    const loaded = loader.loadNear(rootIno)
    server.write(create('g', 8))
    loader.advance(server.seq, [rootIno])
    await questions.deliver()
    await loaded
    expect(image.knowsDirectory(rootIno)).toBe(false)
  })

  it('comes with what is below it, for a program that misses one directory after the other', async () => {
    const [d, e] = [8, 9] as [Ino, Ino]
    server.write(create('d', d, 'directory'), create('e', e, 'directory'))
    server.write({ ...create('g', 10), parent: d } as Op, { ...create('h', 11), parent: e } as Op)
    loader.advance(server.seq, [])
    for (const ino of [rootIno, d, e]) {
      if (ino === e) nowMs = 1000
      const loaded = loader.load({ what: 'directory', ino })
      while (!image.knowsDirectory(ino)) await questions.deliver()
      await loaded
    }
    expect(questions.asked.filter(({ ino }) => ino !== rootIno)).toMatchObject([
      { type: 'subtree', ino: d, limit: 64 },
      { type: 'directory', ino: e },
    ])
  })

  it('nothing is prefetched while a request waits for an answer', async () => {
    const loaded = loader.load({ what: 'inode', ino: file })
    const guessed = loader.loadNear(rootIno)
    expect(questions.asked).toMatchObject([{ type: 'inode' }])
    await questions.deliver()
    await loaded
    await expect.poll(() => questions.asked).toMatchObject([{ type: 'inode' }, { type: 'subtree' }])
    await questions.deliver()
    await guessed
    expect(image.knowsDirectory(rootIno)).toBe(true)
  })

  it('once everything may have changed, what was on its way is asked for again', async () => {
    const loaded = loader.load(root)
    server.changeRoot(unlink('f'))
    loader.advance(server.seq, 'everything')
    await questions.deliver()
    expect(image.knowsDirectory(rootIno)).toBe(false)
    await questions.deliver()
    await loaded
    expect(names()).toEqual([])
  })

  it('changes from before it was asked for make nothing outdated', async () => {
    server.write(create('g', 8))
    loader.advance(server.seq, [rootIno])
    const loaded = loader.load(root)
    await questions.deliver()
    await loaded
    expect(questions.asked).toHaveLength(1)
  })
})
