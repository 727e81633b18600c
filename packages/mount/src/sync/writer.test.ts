import { type Op } from '@cairn/core'
import { FsError, rootIno } from '@cairn/protocol'
import { beforeEach, describe, expect, it } from 'vitest'
import { create, emptyRoot } from '../../test/server-tree.ts'
import { Image } from '../image/image.ts'
import { MountWriter, type WriterParts } from './writer.ts'

const cause = { request: 1, toolCall: undefined }
const make = (ino: number) => (): Op => create('lock', ino)

/** A mount in whose top directory the server decides until it is claimed. */
describe('a mount beside others', () => {
  let image: Image
  let acknowledged: Op[]
  /** The server takes what it was asked about. */
  let take: () => void
  let mine: boolean
  let writer: MountWriter

  beforeEach(() => {
    image = new Image()
    image.install({ ino: rootIno, inode: emptyRoot, links: [] })
    image.installDirectory(rootIno, [])
    ;[acknowledged, mine] = [[], false]
    const taken = Promise.withResolvers<{ readonly seq: number }>()
    take = () => taken.resolve({ seq: 1 })
    writer = new MountWriter({
      image,
      follower: {
        whenApplied: async (_: number, ops: readonly Op[]) => image.absorb(image.plan(ops)),
        whileShown: (_: number, __: Op, wait: () => Promise<void>) => wait(),
      },
      outbox: {
        isFull: false,
        flushNow: () => undefined,
        add: (op: Op) => {
          acknowledged.push(op)
          return { number: 2, place: undefined }
        },
        deferrals: { release: () => undefined, releaseBefore: () => undefined },
      },
      sharing: {
        findUnclaimed: () => (mine ? [] : [rootIno]),
        isInNoDirectory: () => false,
        isUnshared: false,
        // The server decides about the first change, and gives the directory for the second one.
        claim: async () => mine,
      },
      submit: () => taken.promise,
      standing: () => 'lease',
      refusal: { require: () => undefined, unlessRefused: (promise: Promise<unknown>) => promise },
      contested: { note: () => undefined },
      barrier: async () => undefined,
      limit: () => undefined,
      room: { has: () => true, take: () => undefined },
      classes: { deferralOf: () => undefined },
    } as unknown as WriterParts)
  })

  it('acknowledges nothing in a directory while the server decides about a change of its own there', async () => {
    const first = writer.change(make(2), cause)
    await new Promise((resolve) => setImmediate(resolve))
    mine = true
    const second = writer.change(make(3), cause)
    expect(acknowledged).toEqual([])
    take()
    await first
    await expect(second).rejects.toThrow(new FsError('EEXIST'))
    expect(acknowledged).toEqual([])
  })
})
