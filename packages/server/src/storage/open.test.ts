import { chmod, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, expectTypeOf, it } from 'vitest'
import type { Hash } from '@cairn/protocol'
import { ChildProgram } from '../../test/programs/child-program.ts'
import { codeOf, expectCode } from '@cairn/core/conformance'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import { waitUntil } from '../testing/wait-until.ts'
import type { WorkspaceDirectory } from '../workspaces/workspace-keeper.ts'
import type { StoreCall } from './metrics.ts'
import { openStorage, type Storage } from './open.ts'

const hash = '\x01'.repeat(32) as Hash

describe('the embedded storage', () => {
  it('keeps everything in its directory, and has it after it was closed', async () => {
    await withTemporaryDirectory(async (directory) => {
      const data = join(directory, 'made', 'as', 'needed')
      const storage = await openStorage({ data })
      await storage.blobs('pool').put(new Map([[hash, new Uint8Array(100_000)]]))
      await storage.nodes('pool').put(new Map([[hash, Uint8Array.of(1)]]))
      await storage.close()
      expect((await readdir(data)).sort()).toEqual(['lock', 'meta.db', 'objects', 'pid'])
      const again = await openStorage({ data })
      expect((await again.blobs('pool').get(hash)).length).toBe(100_000)
      expect(await again.nodes('pool').get(hash)).toEqual(Uint8Array.of(1))
      await again.close()
    })
  })

  it('the embedded storage is for its owner alone, also in a directory that everybody may enter', async () => {
    await withTemporaryDirectory(async (directory) => {
      const [made, found] = [join(directory, 'deep', 'made'), join(directory, 'found')]
      await mkdir(found, { mode: 0o755 })
      const warnings: string[] = []
      const mode = async (path: string): Promise<number> => (await stat(path)).mode & 0o777
      for (const data of [made, found]) {
        const storage = await openStorage({ data, warn: (text) => void warnings.push(text) })
        await storage.blobs('pool').put(new Map([[hash, new Uint8Array(100_000)]]))
        const entries = await readdir(data, { recursive: true, withFileTypes: true })
        for (const entry of entries) {
          const path = join(entry.parentPath, entry.name)
          expect([path, await mode(path)]).toEqual([path, entry.isDirectory() ? 0o700 : 0o600])
        }
        expect(entries.map(({ name }) => name)).toContain('meta.db-wal')
        await storage.close()
      }
      expect(warnings).toEqual([])
      await chmod(join(found, 'meta.db'), 0o644)
      await chmod(join(found, 'objects'), 0o755)
      await (await openStorage({ data: found, warn: (text) => void warnings.push(text) })).close()
      expect(warnings).toEqual([expect.stringMatching(/\(meta\.db, objects\).*chmod -R go-rwx/)])
      expect(await mode(made)).toBe(0o700)
      expect(await mode(join(directory, 'deep'))).toBe(0o700)
      expect(await mode(found)).toBe(0o755)
    })
  })

  it('pools share nothing', async () => {
    await withTemporaryDirectory(async (data) => {
      const storage = await openStorage({ data })
      for (const length of [10, 100_000]) {
        await storage.blobs('a').put(new Map([[hash, new Uint8Array(length)]]))
        await storage.nodes('a').put(new Map([[hash, new Uint8Array(length)]]))
        expect(await codeOf(storage.blobs('b').get(hash))).toBe('blob_missing')
        expect(await codeOf(storage.nodes('b').get(hash))).toBe('node_missing')
      }
      await storage.close()
    })
  })

  it('small blobs stand in the database, large ones are objects', async () => {
    await withTemporaryDirectory(async (data) => {
      const storage = await openStorage({ data })
      const edge = 64 << 10
      const blobs = new Map([
        ['\x02'.repeat(32) as Hash, new Uint8Array(edge)],
        ['\x03'.repeat(32) as Hash, new Uint8Array(edge + 1)],
      ])
      await storage.blobs('pool').put(blobs)
      const keys: string[] = []
      for await (const { key } of storage.objects.list('')) keys.push(key)
      expect(keys).toEqual([expect.stringMatching(/^packs\/pool\/[0-9a-f]{2}\/[-0-9a-f]{36}$/)])
      await storage.close()
    })
  })

  it('calls are observed, with what became of them', async () => {
    await withTemporaryDirectory(async (data) => {
      const calls: StoreCall[] = []
      const storage = await openStorage({ data, observe: (call) => calls.push(call) })
      calls.length = 0
      await codeOf(storage.blobs('pool').get(hash))
      await storage.checkReady()
      expect(calls.map(({ store, operation, outcome }) => [store, operation, outcome])).toEqual([
        ['database', 'query', 'ok'],
        ['objects', 'get', 'blob_missing'],
        ['database', 'query', 'ok'],
      ])
      for (const { seconds } of calls) expect(seconds).toBeGreaterThanOrEqual(0)
      await storage.close()
    })
  })

  it('the reserve has the size that the server asks for', () => {
    expectTypeOf<Storage['workspaces']>().toExtend<WorkspaceDirectory>()
  })
})

describe('two servers on one directory', () => {
  it('the second is told the process id of the first, and gets in when that was killed', async () => {
    await withTemporaryDirectory(async (data) => {
      const child = new ChildProgram('hold-storage', [data])
      try {
        await waitUntil('the first has opened', () => child.lines.includes('open'))
        const opening = openStorage({ data })
        await expectCode(opening, 'storage_misconfigured', data)
        await expect(opening).rejects.toThrow(`process id ${child.pid} has it open`)
      } finally {
        await child.kill()
      }
      await (await openStorage({ data })).close()
    })
  })

  it('a second server in the same process is refused as well', async () => {
    await withTemporaryDirectory(async (data) => {
      const storage = await openStorage({ data })
      await expectCode(openStorage({ data }), 'storage_misconfigured', data)
      await storage.close()
      await (await openStorage({ data })).close()
    })
  })
})

describe('addresses', () => {
  const wrong: Readonly<Record<string, { meta?: string; objects?: string }>> = {
    'another database': { meta: 'postgres://localhost/x' },
    'a database without a name': { meta: 'mysql://root@localhost' },
    'a password that is not encoded': { meta: 'mysql://root:100%@localhost/x' },
    'a database with an unknown option': { meta: 'mysql://root@localhost/x?speed=fast' },
    'a bucket without a name': { objects: 's3://' },
    'a bucket with a path': { objects: 's3://bucket/path' },
    'an endpoint that is no URL': { objects: 's3://bucket?endpoint=localhost' },
    'half of the credentials': { objects: 's3://bucket?accessKeyId=a' },
    'an unknown option': { objects: 's3://bucket?acces=a' },
    'another object store': { objects: 'gs://bucket' },
  }
  for (const [what, options] of Object.entries(wrong))
    it(`${what} is refused before anything is made`, async () => {
      await withTemporaryDirectory(async (directory) => {
        const data = join(directory, 'data')
        await expectCode(openStorage({ data, ...options }), 'storage_misconfigured')
        expect(await readdir(directory)).toEqual([])
      })
    })

  it('a store that does not answer leaves nothing open', async () => {
    await withTemporaryDirectory(async (data) => {
      const objects = 's3://bucket?endpoint=http://127.0.0.1:1&accessKeyId=a&secretAccessKey=s'
      await expectCode(openStorage({ data, objects }), 'storage_unavailable')
      await (await openStorage({ data })).close()
    })
  })

  it('messages never show a password', async () => {
    await withTemporaryDirectory(async (data) => {
      const opening = openStorage({ data, meta: 'mysql://u:hunter2@127.0.0.1:1/x' })
      await expectCode(opening, 'storage_unavailable')
      await expect(opening).rejects.not.toThrow(/hunter2/)
      await expect(opening).rejects.toThrow(/mysql:\/\/u@127\.0\.0\.1:1\/x/)
    })
  })
})
