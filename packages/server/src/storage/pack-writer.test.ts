import { join } from 'node:path'
import { CairnError, type Hash } from '@cairn/protocol'
import { expect, it } from 'vitest'
import { MemoryObjectStore } from '../conformance/memory-object-store.ts'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import { migrate } from './migrate.ts'
import { PackTable } from './pack-table.ts'
import { PackWriter } from './pack-writer.ts'
import { SqliteDatabase } from './sqlite/sqlite-database.ts'

/** As a disk on which the pack was the last that had room. */
class FullTable extends PackTable {
  override settle(key: string): Promise<boolean> {
    const what = { what: `note ${key}`, reason: 'the disk is full' }
    return Promise.reject(new CairnError('storage_full', what))
  }
}

it('a pack whose rows have no room leaves no object behind', async () => {
  await withTemporaryDirectory(async (directory) => {
    const database = await SqliteDatabase.open(join(directory, 'meta.db'))
    await migrate(database)
    const objects = new MemoryObjectStore()
    const writer = new PackWriter(new FullTable(database, 'pool'), objects)
    const blobs = new Map([['any' as Hash, new Uint8Array(100_000)]])
    await expect(writer.put(blobs, undefined)).rejects.toMatchObject({ code: 'storage_full' })
    expect((await objects.list('')[Symbol.asyncIterator]().next()).done).toBe(true)
    await database.close()
  })
})
