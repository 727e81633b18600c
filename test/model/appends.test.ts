import { Branch, createBranch, type Op, readFile, type Receipt, type View } from '@cairn/core'
import { type ActorId, type BranchId, type Ino, type Name, rootIno } from '@cairn/protocol'
import fc from 'fast-check'
import { describe, expect } from 'vitest'
import { Chance } from './chance.ts'
import { FlakyLog } from './flaky-log.ts'
import { itHolds } from './property.ts'
import { makeWait, slowStores } from './slow.ts'
import { ask } from './unavailable.ts'
import { World } from './world.ts'

const id = 'main' as BranchId
const ino = 2 as Ino
const time = { sec: 0, nsec: 0 }
const actor = 'tester' as ActorId

/** Makes the file that is not there yet, and writes at the end of the one that is. */
function append(view: View, line: string): readonly Op[] {
  const offset = view.inode(ino)?.size
  const data = { type: 'bytes', bytes: new TextEncoder().encode(line) } as const
  const write = {
    type: 'write',
    time,
    ino,
    offset: offset ?? 0,
    data,
    dropPrivileges: false,
  } as const
  if (offset !== undefined) return [write]
  const place = { parent: rootIno, name: 'log' as Name, mode: 0o644, uid: 0, gid: 0, rdev: 0 }
  return [{ type: 'create', time, ino, kind: 'file', target: undefined, ...place }, write]
}

describe('operations decided where they stand', () => {
  itHolds('appends of many through two servers and a flaky log: each is there once, in order', {
    name: 'appends',
    runs: 20,
    values: fc.record({
      writers: fc.array(fc.integer({ min: 1, max: 5 }), { minLength: 1, maxLength: 5 }),
      seed: fc.nat(),
    }),
    async test({ writers, seed }) {
      const world = new World()
      await createBranch(world.openStores(), id)
      const [wait, chance, slow] = [makeWait(seed, 20), new Chance(seed), slowStores(seed)]
      const log = new FlakyLog(world.disk.log, chance, wait)
      const open = (): Promise<Branch> => {
        return ask(() =>
          Branch.open(
            world.openStores((disk) => slow({ ...disk, log })),
            id,
          ),
        )
      }
      const servers = [await open(), await open()]
      const lines: { readonly line: string; readonly receipt: Receipt }[] = []
      const runWriter = async (count: number): Promise<void> => {
        const session = world.newSession()
        for (let number = 1; number <= count; number++) {
          await wait()
          const line = `${number} of ${session}\n`
          const author = { session, number, actor, time }
          const receipt = await ask(() =>
            chance.choose(servers).transact(author, (view) => append(view, line)),
          )
          lines.push({ line, receipt })
        }
      }
      await Promise.all(writers.map(runWriter))
      await log.settled()
      const stores = world.openStores()
      const { head } = await Branch.open(stores, id)
      const file = await stores.nodes.read(() => head.view.inode(ino)!)
      const bytes = await readFile(stores.nodes, stores.blobs, head.view, ino, file)
      lines.sort((a, b) => a.receipt.seq - b.receipt.seq)
      expect(new TextDecoder().decode(bytes)).toBe(lines.map(({ line }) => line).join(''))
    },
  })
})
