import type { ActorId, BranchId, Ino, Name, SessionId } from '@cairn/protocol'
import { describe, expect, it } from 'vitest'
import { MemoryStores } from '../../test/ports.ts'
import { readFile } from '../content/read.ts'
import type { Op } from '../filesystem/op.ts'
import { resolvePath } from '../filesystem/resolve.ts'
import { Branch } from '../history/branch.ts'
import { commitLayer, rebaseLayer, resolveConflict } from './commit.ts'
import type { LayerConflictError } from './conflict-error.ts'
import { createBranch, forkBranch } from './fork.ts'

const root = { uid: 0, gid: 0, groups: [] }
const main = 'main' as BranchId
const encode = (text: string): Uint8Array => new TextEncoder().encode(text)

class Fixture {
  readonly stores = new MemoryStores()
  #number = 0
  #ino = 1
  #clock = 1000

  async open(): Promise<Branch> {
    await createBranch(this.stores, main)
    return Branch.open(this.stores, main)
  }

  async layer(of: Branch, name: string): Promise<Branch> {
    const id = name as BranchId
    await forkBranch(this.stores, id, (await of.fold()).snapshot, of.id)
    return Branch.open(this.stores, id)
  }

  author(): { actor: ActorId; time: { sec: number; nsec: number } } {
    return { actor: 'tester' as ActorId, time: { sec: this.#clock++, nsec: 0 } }
  }

  async submit(branch: Branch, ...ops: Op[]): Promise<void> {
    const { epoch } = branch.head.position
    await branch.submit({
      ...this.author(),
      session: 's' as SessionId,
      number: ++this.#number,
      epoch,
      ops,
    })
  }

  async find(
    branch: Branch,
    path: string,
  ): Promise<{ parent: Ino; name: Name; ino: Ino | undefined }> {
    const resolved = await this.stores.nodes.read(() =>
      resolvePath(branch.head.view, path, { who: root, follow: false }),
    )
    return { parent: resolved.parent, name: resolved.name!, ino: resolved.dentry?.ino }
  }

  async write(branch: Branch, path: string, text: string): Promise<void> {
    const { parent, name, ino } = await this.find(branch, path)
    const time = { sec: this.#clock++, nsec: 0 }
    const made = ino ?? (++this.#ino as Ino)
    const create: Op = {
      type: 'create',
      time,
      parent,
      name,
      ino: made,
      kind: 'file',
      mode: 0o644,
      uid: 0,
      gid: 0,
      rdev: 0,
      target: undefined,
    }
    const cut: Op = { type: 'setattr', time, ino: made, size: 0 }
    const write: Op = {
      type: 'write',
      time,
      ino: made,
      offset: 0,
      data: { type: 'bytes', bytes: encode(text) },
      dropPrivileges: false,
    }
    await this.submit(branch, ...(ino === undefined ? [create] : [cut]), write)
  }

  async read(branch: Branch, path: string): Promise<string> {
    const { ino } = await this.find(branch, path)
    const view = branch.head.view
    const inode = await this.stores.nodes.read(() => view.inode(ino!))
    return new TextDecoder().decode(
      await readFile(this.stores.nodes, this.stores.blobs, view, ino!, inode!),
    )
  }
}

describe('commit', () => {
  it('what only the layer changed arrives, what only the target changed stays', async () => {
    const t = new Fixture()
    const target = await t.open()
    await t.write(target, 'a', 'base a')
    await t.write(target, 'b', 'base b')
    const layer = await t.layer(target, 'attempt')
    await t.write(layer, 'a', 'layer a')
    await t.write(layer, 'new', 'new')
    await t.write(target, 'b', 'target b')
    const receipt = await commitLayer(t.stores, { layer, target, author: t.author() })
    expect([
      await t.read(target, 'a'),
      await t.read(target, 'b'),
      await t.read(target, 'new'),
    ]).toEqual(['layer a', 'target b', 'new'])
    expect(receipt.changes.map(({ kind, path }) => `${kind} ${path.join('/')}`)).toEqual([
      'modified a',
      'added new',
    ])
    expect(await commitLayer(t.stores, { layer, target, author: t.author() })).toEqual(receipt)
  })

  it('a conflict leaves the target alone; decided and rebased, the layer commits', async () => {
    const t = new Fixture()
    const target = await t.open()
    await t.write(target, 'a', 'base')
    const layer = await t.layer(target, 'attempt')
    await t.write(layer, 'a', 'layer')
    await t.write(target, 'a', 'target')
    const error: LayerConflictError = await commitLayer(t.stores, {
      layer,
      target,
      author: t.author(),
    }).catch((reason) => reason)
    expect(error.conflicts.map(({ kind, path }) => [kind, path])).toEqual([['edit/edit', ['a']]])
    expect(await t.read(target, 'a')).toBe('target')
    expect(layer.head.position.state).toBe('conflicted')
    await resolveConflict(t.stores, layer.id, {
      conflict: error.conflicts[0]!.id,
      choice: { type: 'layer' },
    })
    await rebaseLayer(t.stores, { layer, target, author: t.author() })
    expect(layer.head.position.state).toBe('open')
    await commitLayer(t.stores, { layer, target, author: t.author() })
    expect(await t.read(target, 'a')).toBe('layer')
  })
})
