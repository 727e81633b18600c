import { open, readdir, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { Blobs, createBranch, type LogRow, Nodes } from '@cairn/core'
import { type BranchId, type Hash, isCairnError, type SessionId } from '@cairn/protocol'
import { Collector } from '../jobs/collector.ts'
import { ordinaryKeepTimes } from '../workspaces/keep-times.ts'
import { contentWorker, sha256 } from '../ports/content-worker.ts'
import { makeReadOnly, whyNoSmallDisk, withSmallDisk } from '../testing/servers/small-disk.ts'
import { codeOf, expectCode, uniqueHash } from '@cairn/core/conformance'
import { DiskObjectStore } from './disk/disk-object-store.ts'
import { openStorage, type Storage } from './open.ts'

const branch = 'branch' as BranchId

describe.skipIf(whyNoSmallDisk)(`a disk that is full ${whyNoSmallDisk ?? ''}`, () => {
  it('SQLite: storage_full, earlier batches intact, and it goes on once there is room', async () => {
    await withSmallDisk(4 << 20, async (disk) => {
      const filler = join(disk, 'filler')
      await writeFile(filler, new Uint8Array(2 << 20))
      const storage = await openStorage({ data: join(disk, 'data') })
      try {
        const count = await appendUntilFull(storage)
        await checkRows(storage, count)
        await expectCode(storage.log.append(branch, [rowOf(count + 1)]), 'storage_full')
        await rm(filler)
        await storage.log.append(branch, [rowOf(count + 1)])
        await checkRows(storage, count + 1)
      } finally {
        await storage.close()
      }
    })
  })

  it('objects: storage_full, no debris, earlier ones intact, and it goes on once there is room', async () => {
    await withSmallDisk(2 << 20, async (disk) => {
      const store = await DiskObjectStore.open(join(disk, 'objects'))
      const put = (i: number): Promise<void> => store.put(`a/${i}`, new Uint8Array(300_000).fill(i))
      let count = 0
      const fill = async (): Promise<never> => {
        for (;;) {
          await put(count)
          count++
        }
      }
      const filling = fill()
      await expectCode(filling, 'storage_full')
      await expect(filling).rejects.toThrow(/cannot write .*: the disk is full/)
      expect(count).toBeGreaterThan(3)
      expect(await readdir(join(disk, 'objects', '.tmp'))).toEqual([])
      for (let i = 0; i < count; i++) expect((await store.get(`a/${i}`)).length).toBe(300_000)
      await expectCode(store.get(`a/${count}`), 'blob_missing')
      await store.delete('a/0')
      await put(count)
      expect((await store.get(`a/${count}`)).length).toBe(300_000)
    })
  })
})

describe.skipIf(whyNoSmallDisk)(`a reserve on a full disk ${whyNoSmallDisk ?? ''}`, () => {
  /** Leaves nothing, not even a page. */
  const fill = async (path: string): Promise<void> => {
    const file = await open(path, 'w')
    try {
      for (let bytes = 1 << 20; bytes >= 512; bytes /= 2)
        while (
          await file.write(new Uint8Array(bytes)).then(
            ({ bytesWritten }) => bytesWritten === bytes,
            () => false,
          )
        );
    } finally {
      await file.close()
    }
  }
  const blob = (i: number): Map<Hash, Uint8Array> =>
    new Map([[String.fromCharCode(i).repeat(32) as Hash, new Uint8Array(200_000).fill(i)]])
  const createWorkspace = async ({
    workspaces,
    nodes,
    blobs,
    log,
    refs,
  }: Storage): Promise<void> => {
    const createdAt = new Date().toISOString()
    const record = { id: 'w', owner: 'owner', name: 'w', pool: 'pool', createdAt }
    await workspaces.create(record, { name: 'main', id: branch })
    const store = nodes('pool')
    const stores = {
      nodes: new Nodes({ store, hash: sha256 }),
      blobs: new Blobs(blobs('pool'), contentWorker),
    }
    await createBranch({ ...stores, log, refs }, branch)
  }
  const collect = (storage: Storage): Promise<unknown> =>
    new Collector(storage, { ...ordinaryKeepTimes, nowMs: Date.now }).run({
      dryRun: false,
      alone: true,
    })

  it('stores can be opened and garbage deleted, and then there is room again', async () => {
    await withSmallDisk(64 << 20, async (disk) => {
      const data = join(disk, 'data')
      const first = await openStorage({ data })
      expect(await first.reserve!.take()).toBe(true)
      await createWorkspace(first)
      for (let i = 1; i <= 40; i++) await first.blobs('pool').put(blob(i))
      await first.close()
      await fill(join(disk, 'filler'))
      const storage = await openStorage({ data })
      try {
        await collect(storage)
        expect((await readdir(data)).includes('reserve')).toBe(true)
        await storage.blobs('pool').put(blob(50))
      } finally {
        await storage.close()
      }
    })
  })

  it('a draft that filled the disk is deleted, and then there is room again', async () => {
    await withSmallDisk(64 << 20, async (disk) => {
      const storage = await openStorage({ data: join(disk, 'data') })
      try {
        const { reserve } = storage
        expect(await reserve!.take()).toBe(true)
        const draft = storage.blobs('pool').draft(Date.now)
        const fillByDraft = async (): Promise<void> => {
          for (let i = 1; i < 1000; i++)
            await draft.put(new Map([[uniqueHash(), new Uint8Array(200_000).fill(i)]]))
        }
        await expectCode(fillByDraft(), 'storage_full')
        await draft.drop()
        expect(reserve!.isReleased).toBe(true)
        const left = storage.objects.list('')[Symbol.asyncIterator]()
        expect((await left.next()).done).toBe(true)
        await storage.blobs('pool').put(blob(1))
        expect(reserve!.isReleased).toBe(false)
      } finally {
        await storage.close()
      }
    })
  })

  it('a draft is deleted although the disk has no room for a page of the database', async () => {
    await withSmallDisk(64 << 20, async (disk) => {
      const storage = await openStorage({ data: join(disk, 'data') })
      try {
        expect(await storage.reserve!.take()).toBe(true)
        const draft = storage.blobs('pool').draft(Date.now)
        for (let i = 1; i <= 40; i++)
          await draft.put(new Map([[uniqueHash(), new Uint8Array(200_000).fill(i)]]))
        await fill(join(disk, 'filler'))
        await draft.drop()
        const left = storage.objects.list('')[Symbol.asyncIterator]()
        expect((await left.next()).done).toBe(true)
      } finally {
        await storage.close()
      }
    })
  })

  it('while it is given up, objects are refused; once there is room, it is taken again', async () => {
    await withSmallDisk(64 << 20, async (disk) => {
      const storage = await openStorage({ data: join(disk, 'data') })
      try {
        const { reserve } = storage
        expect(await reserve!.take()).toBe(true)
        expect(await reserve!.releaseIfShort()).toBe(false)
        await fill(join(disk, 'filler'))
        expect(await reserve!.releaseIfShort()).toBe(true)
        await expectCode(storage.blobs('pool').put(blob(1)), 'storage_full')
        await rm(join(disk, 'filler'))
        await storage.blobs('pool').put(blob(1))
        expect(reserve!.isReleased).toBe(false)
      } finally {
        await storage.close()
      }
    })
  })
})

describe.skipIf(whyNoSmallDisk)(`a disk that is read-only ${whyNoSmallDisk ?? ''}`, () => {
  it('a server says so when it starts, and opens once the disk can be written', async () => {
    await withSmallDisk(8 << 20, async (disk) => {
      const data = join(disk, 'data')
      await (await openStorage({ data })).close()
      await makeReadOnly(disk)
      const opening = openStorage({ data })
      expect(await codeOf(opening)).toBe('storage_unavailable')
      await expect(opening).rejects.toThrow(/read-?only/i)
      const fresh = openStorage({ data: join(disk, 'other') })
      expect(await codeOf(fresh)).toBe('storage_unavailable')
      await expect(fresh).rejects.toThrow(/read-?only/i)
    })
  })
})

async function appendUntilFull(storage: Storage): Promise<number> {
  for (let seq = 1; ; seq++) {
    try {
      await storage.log.append(branch, [rowOf(seq)])
    } catch (error) {
      expect(isCairnError(error, 'storage_full')).toBe(true)
      expect(String(error)).toMatch(/cannot write to .*meta\.db: the disk is full/)
      expect(seq).toBeGreaterThan(3)
      return seq - 1
    }
  }
}

async function checkRows(storage: Storage, count: number): Promise<void> {
  const rows = await storage.log.read(branch, 0, 10_000)
  expect(rows.map(({ seq }) => seq)).toEqual(Array.from({ length: count }, (_, i) => i + 1))
  for (const { seq, bytes } of rows)
    expect(bytes.length === 50_000 && bytes.every((byte) => byte === (seq & 0xff))).toBe(true)
}

function rowOf(seq: number): LogRow {
  const bytes = new Uint8Array(50_000).fill(seq)
  return { seq, session: 's' as SessionId, number: seq, bytes, hash: '\0'.repeat(32) as Hash }
}
