import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { BranchId, Hash } from '@cairn/protocol'
import { keysUnder } from '../conformance/object-store.ts'
import { ChildProgram, whyNoStrace } from '../../test/programs/child-program.ts'
import { withTemporaryDirectory } from '../conformance/temporary-directory.ts'
import { DiskObjectStore } from './disk/disk-object-store.ts'
import { openStorage } from './open.ts'

const branch = 'branch' as BranchId

/** Dies on reaching its n-th wait for the disk: before that wait has done anything. */
function killAtSync(n: number): string[] {
  const calls = 'fsync,fdatasync'
  return ['-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:signal=KILL:when=${n}`]
}

describe.skipIf(whyNoStrace)(`killed at each wait for the disk ${whyNoStrace ?? ''}`, () => {
  it('SQLite has every batch that was acknowledged, in order and whole', async () => {
    await withTemporaryDirectory(async (data) => {
      await (await openStorage({ data })).close()
      let last = 0
      for (const sync of [1, 2, 4, 9]) {
        const strace = killAtSync(sync)
        const numbers = [last + 1, last + 100].map(String)
        const child = new ChildProgram('append-batches', [data, branch, ...numbers], { strace })
        expect(await child.end()).toBe(undefined)
        const acknowledged = Number(child.lines.at(-1) ?? last)
        last = await checkLog(data, acknowledged)
      }
      expect(last).toBeGreaterThan(8)
    })
  })

  it('the disk has every object that was acknowledged, whole, and no debris', async () => {
    await withTemporaryDirectory(async (directory) => {
      let next = 0
      for (const sync of [3, 4, 5, 6, 7, 8, 20]) {
        const strace = killAtSync(sync)
        const numbers = [next, next + 100].map(String)
        const child = new ChildProgram('put-objects', [directory, ...numbers], { strace })
        expect(await child.end()).toBe(undefined)
        const acknowledged = Number(child.lines.at(-1) ?? next - 1)
        next = (await checkObjects(directory, acknowledged)) + 1
      }
      expect(next).toBeGreaterThan(6)
    })
  })

  it('every blob of an acknowledged pack is there, and garbage collection deletes the others', async () => {
    await withTemporaryDirectory(async (data) => {
      await (await openStorage({ data })).close()
      let last = 0
      for (const sync of [1, 2, 3, 4, 5, 6, 20]) {
        const strace = killAtSync(sync)
        const child = new ChildProgram('put-packs', [data, `${last + 1}`, `${last + 100}`], {
          strace,
        })
        expect(await child.end()).toBe(undefined)
        last = await checkPacks(data, Number(child.lines.at(-1) ?? last))
      }
      expect(last).toBeGreaterThan(2)
    })
  })

  it('every blob of packs that were being rewritten is there, and nothing is left of the copies', async () => {
    await withTemporaryDirectory(async (data) => {
      const kept = await fillSparsely(data)
      let ends = 0
      for (let sync = 1; ends === 0; sync++) {
        const child = new ChildProgram('compact-packs', [data], { strace: killAtSync(sync) })
        if ((await child.end()) === 0) ends = sync
        await checkKept(data, kept)
      }
      // The copies are stored, and the rows turn to them: each of both waits for the disk.
      expect(ends).toBeGreaterThan(4)
      const storage = await openStorage({ data })
      await storage.compactor.dropUnused(1, 1)
      expect(await keysUnder(storage.objects, '')).toHaveLength(1)
      await storage.close()
      await checkKept(data, kept)
    })
  })
})

describe.skipIf(whyNoStrace)(`what a power cut would leave ${whyNoStrace ?? ''}`, () => {
  it('an object is acknowledged after its bytes, its name and its directory are on disk', async () => {
    await withTemporaryDirectory(async (directory) => {
      const trace = join(directory, 'trace')
      const strace = ['--seccomp-bpf', '-y', '-o', trace, '-e', 'trace=fsync,rename,write']
      const child = new ChildProgram('put-objects', [join(directory, 'd'), '0', '5'], { strace })
      expect(await child.end()).toBe(0)
      const steps = await readSteps(trace)
      for (let i = 1; i < 5; i++) {
        const from = steps.indexOf(`acknowledge ${i - 1}`)
        const to = steps.indexOf(`acknowledge ${i}`)
        // Every second one makes a directory, which has to be on disk in the one above it first.
        const made = i % 2 === 0 ? ['sync objects'] : []
        const put = ['sync a draft', 'rename', `sync ${i >> 1}`]
        expect(steps.slice(from + 1, to)).toEqual([...made, ...put])
      }
    })
  })

  it('a batch is acknowledged after the write-ahead log is on disk', async () => {
    await withTemporaryDirectory(async (directory) => {
      const data = join(directory, 'd')
      await (await openStorage({ data })).close()
      const trace = join(directory, 'trace')
      const strace = ['--seccomp-bpf', '-y', '-o', trace, '-e', 'trace=fsync,fdatasync,write']
      const child = new ChildProgram('append-batches', [data, branch, '1', '6'], { strace })
      expect(await child.end()).toBe(0)
      const steps = await readSteps(trace)
      for (let i = 2; i < 6; i++) {
        const from = steps.indexOf(`acknowledge ${i - 1}`)
        const to = steps.indexOf(`acknowledge ${i}`)
        expect(steps.slice(from + 1, to)).toEqual(['sync meta.db-wal'])
      }
    })
  })
})

describe.skipIf(whyNoStrace)(`a disk that fails once ${whyNoStrace ?? ''}`, () => {
  const failSync = (n: number): string[] => {
    const calls = 'fsync,fdatasync'
    return ['-o', '/dev/null', '-e', `trace=${calls}`, '-e', `inject=${calls}:error=EIO:when=${n}`]
  }

  it('SQLite: the batch is storage_unavailable, those after it conflict until the branch is read again', async () => {
    await withTemporaryDirectory(async (data) => {
      await (await openStorage({ data })).close()
      const strace = failSync(4)
      const child = new ChildProgram('append-batches', [data, branch, '1', '5'], { strace })
      expect(await child.end()).toBe(0)
      const failed = child.lines.findIndex((line) => line.endsWith('storage_unavailable'))
      expect(failed).toBeGreaterThan(0)
      expect(child.lines.slice(0, failed)).toEqual(
        child.lines.slice(0, failed).map((_, i) => `${i + 1}`),
      )
      for (const line of child.lines.slice(failed + 1)) expect(line).toMatch(/ sequence_conflict$/)
      await checkLog(data, failed)
    })
  })

  it('disk: the object is storage_unavailable, the others are there', async () => {
    await withTemporaryDirectory(async (directory) => {
      const strace = failSync(6)
      const child = new ChildProgram('put-objects', [directory, '0', '5'], { strace })
      expect(await child.end()).toBe(0)
      const failed = child.lines.filter((line) => line.endsWith(' storage_unavailable'))
      expect(failed.length).toBe(1)
      const store = await DiskObjectStore.open(directory)
      const keys = await keysUnder(store, '')
      for (const line of child.lines)
        if (!failed.includes(line)) expect(keys).toContain(`objects/${Number(line) >> 1}/${line}`)
    })
  })
})

/** The order in which things reached the disk, out of strace's own words. */
async function readSteps(trace: string): Promise<string[]> {
  const text = await readFile(trace, 'utf8')
  return text.split('\n').flatMap((line) => {
    const sync = /f(?:data)?sync\(\d+<(.*?)>/.exec(line)?.[1]
    if (sync !== undefined) {
      const name = sync.split('/').at(-1)!
      return [sync.includes('/.tmp/') ? 'sync a draft' : `sync ${name}`]
    }
    if (/ rename\(/.test(line)) return ['rename']
    const said = /write\(1<.*>, "(\d+)\\n"/.exec(line)?.[1]
    return said === undefined ? [] : [`acknowledge ${said}`]
  })
}

/** Gives the number of batches there are: those acknowledged, and perhaps one more. */
async function checkLog(data: string, acknowledged: number): Promise<number> {
  const storage = await openStorage({ data })
  try {
    const rows = await storage.log.read(branch, 0, 100_000)
    expect(rows.length).toBeGreaterThanOrEqual(acknowledged)
    expect(rows.length).toBeLessThanOrEqual(acknowledged + 1)
    for (const [i, { seq, bytes }] of rows.entries()) {
      expect(seq).toBe(i + 1)
      expect(bytes.length === 2000 && bytes.every((byte) => byte === (seq & 0xff))).toBe(true)
    }
    return rows.length
  } finally {
    await storage.close()
  }
}

const sparseGroups = 40

/** Packs of three blobs of which one is needed. */
async function fillSparsely(data: string): Promise<readonly Hash[]> {
  const storage = await openStorage({ data })
  const kept: Hash[] = []
  for (let group = 1; group <= sparseGroups; group++) {
    const [needed, ...others] = [0, 1, 2].map((n) => packedId(group, n))
    const bytes = new Uint8Array(70_000).fill(group)
    await storage.blobs('pool').put(new Map([needed!, ...others].map((id) => [id, bytes])))
    await storage.survey.remove('pool', 'packed_blobs', others, undefined)
    kept.push(needed!)
  }
  await storage.close()
  return kept
}

async function checkKept(data: string, kept: readonly Hash[]): Promise<void> {
  const storage = await openStorage({ data })
  const blobs = storage.blobs('pool')
  for (const id of kept) {
    const bytes = await blobs.get(id)
    expect(bytes.length === 70_000 && bytes.every((byte) => byte === id.charCodeAt(0))).toBe(true)
  }
  await storage.close()
}

function packedId(group: number, n: number): Hash {
  return String.fromCharCode(group & 0xff, group >> 8, n).padEnd(32, '\0') as Hash
}

/** Gives the number of groups there are: those acknowledged, and perhaps one more. No server runs, so nothing waits. */
async function checkPacks(data: string, acknowledged: number): Promise<number> {
  const storage = await openStorage({ data })
  try {
    await storage.compactor.dropUnused(1, 1)
    const blobs = storage.blobs('pool')
    const present = new Set<number>()
    for (let group = 1; group <= acknowledged + 1; group++)
      for (const n of [0, 1, 2]) {
        const id = packedId(group, n)
        if (group > acknowledged && !(await blobs.touch([id])).has(id)) continue
        const bytes = await blobs.get(id)
        expect(bytes.length === 70_000 && bytes.every((byte) => byte === (group & 0xff))).toBe(true)
        present.add(group)
      }
    // One object for each group, and nothing that no row names.
    expect((await keysUnder(storage.objects, '')).length).toBe(present.size)
    return present.size
  } finally {
    await storage.close()
  }
}

async function checkObjects(directory: string, acknowledged: number): Promise<number> {
  const store = await DiskObjectStore.open(directory)
  const keys = await keysUnder(store, '')
  const numbers = keys.map((key) => Number(key.split('/').at(-1))).sort((a, b) => a - b)
  expect(numbers.length).toBeGreaterThanOrEqual(acknowledged + 1)
  expect(numbers).toEqual(numbers.map((_, i) => i))
  for (const key of keys) {
    const bytes = await store.get(key)
    const number = Number(key.split('/').at(-1))
    expect(bytes.length === 5000 && bytes.every((byte) => byte === (number & 0xff))).toBe(true)
  }
  return numbers.length - 1
}
