import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { type Sandbox, type SandboxInfo } from 'e2b'
import { describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

describe.skipIf(!canServe)('the life of a sandbox, through the e2b package', () => {
  const test = serveForTests()
  const create = (options: object = {}): Promise<Sandbox> => test.e2b.Sandbox.create(options)
  const bootId = async (sandbox: Sandbox): Promise<string> =>
    (await sandbox.commands.run('cat /proc/sys/kernel/random/boot_id')).stdout

  async function listAll(query: object, limit?: number): Promise<SandboxInfo[]> {
    const pages = test.e2b.Sandbox.list({ query, ...(limit === undefined ? {} : { limit }) })
    const found: SandboxInfo[] = []
    while (pages.hasNext) found.push(...(await pages.nextItems()))
    return found
  }

  it('a sandbox is told of, found by what is said about it, and gone after its end', async () => {
    const metadata = { run: 'a b&c=d/ü%', n: '1' }
    const sandboxes = [await create({ metadata }), await create({ metadata }), await create()]
    const ids = sandboxes.map(({ sandboxId }) => sandboxId)
    const found = await listAll({ metadata })
    expect(found.map(({ sandboxId }) => sandboxId)).toEqual([ids[1], ids[0]])
    const paged = await listAll({ state: ['running'] }, 1)
    expect(paged.map(({ sandboxId }) => sandboxId)).toEqual([ids[2], ids[1], ids[0]])
    const info = await sandboxes[0]!.getInfo()
    expect(info).toMatchObject({ metadata, templateId: 'base', state: 'running' })
    for (const sandbox of sandboxes) await expect(sandbox.kill()).resolves.toBe(true)
    await expect(sandboxes[0]!.kill()).resolves.toBe(false)
    await expect(sandboxes[0]!.isRunning()).resolves.toBe(false)
    await expect(test.e2b.Sandbox.connect(ids[0]!)).rejects.toMatchObject({
      name: 'SandboxNotFoundError',
    })
    await expect(sandboxes[0]!.commands.run('true')).rejects.toMatchObject({
      name: 'SandboxNotFoundError',
    })
    await expect(listAll({})).resolves.toEqual([])
    await expect(readdir(join(test.data, 'jails'))).resolves.not.toContain(ids[0])
  })

  it('a running command is cut off when its sandbox is killed', async () => {
    const sandbox = await create()
    const command = await sandbox.commands.run('sleep 1000', { background: true, timeoutMs: 0 })
    const ended = expect(command.wait()).rejects.toMatchObject({ name: 'TimeoutError' })
    await sandbox.kill()
    await ended
  })

  it('pauses with its processes, which go on where they were', async () => {
    const sandbox = await create()
    const before = await bootId(sandbox)
    const { pid } = await sandbox.commands.run('echo here > /tmp/mark; sleep 1000', {
      background: true,
      timeoutMs: 0,
    })
    await expect(sandbox.pause()).resolves.toBe(true)
    await expect(sandbox.pause()).resolves.toBe(false)
    await expect(sandbox.isRunning()).resolves.toBe(false)
    expect((await listAll({ state: ['paused'] }))[0]?.sandboxId).toBe(sandbox.sandboxId)
    const again = await test.e2b.Sandbox.connect(sandbox.sandboxId)
    await expect(again.files.read('/tmp/mark')).resolves.toBe('here\n')
    expect((await again.commands.list()).map((each) => each.pid)).toContain(pid)
    await expect(bootId(again)).resolves.toBe(before)
    await again.kill()
  })

  it('pauses without them, and boots from its disk', async () => {
    const sandbox = await create()
    const before = await bootId(sandbox)
    await sandbox.files.write('kept.txt', 'kept')
    await sandbox.commands.run('sleep 1000', { background: true, timeoutMs: 0 })
    await sandbox.pause({ keepMemory: false })
    const again = await test.e2b.Sandbox.connect(sandbox.sandboxId)
    await expect(again.files.read('kept.txt')).resolves.toBe('kept')
    await expect(again.commands.list()).resolves.toEqual([])
    await expect(bootId(again)).resolves.not.toBe(before)
    await again.kill()
  })

  it('ends at its timeout, which can be moved both ways', async () => {
    const sandbox = await create({ timeoutMs: 600_000 })
    await sandbox.setTimeout(1000)
    await expect.poll(() => sandbox.isRunning(), { timeout: 10_000 }).toBe(false)
    await expect(listAll({})).resolves.toEqual([])
    await expect(sandbox.setTimeout(1000)).rejects.toMatchObject({ name: 'SandboxNotFoundError' })
  })

  it('pauses at its timeout where that was asked for, and wakes when it is needed', async () => {
    const sandbox = await create({ lifecycle: { onTimeout: 'pause', autoResume: true } })
    await sandbox.files.write('/tmp/mark', 'here')
    // Not from the start: on a slow machine the file would come after the timeout, and wake it.
    await sandbox.setTimeout(1000)
    const state = async (): Promise<string> => (await listAll({}))[0]?.state ?? 'gone'
    await expect.poll(state, { timeout: 10_000 }).toBe('paused')
    await expect(sandbox.files.read('/tmp/mark')).resolves.toBe('here')
    await expect(state()).resolves.toBe('running')
    await sandbox.kill()
  })

  it('a sandbox is the start of others: by a snapshot, by a fork', async () => {
    const sandbox = await create({ envs: { A: 'b' } })
    await sandbox.files.write('note', 'from the first')
    const { snapshotId } = await sandbox.createSnapshot({ name: 'team/noted' })
    expect(snapshotId).toBe('team/noted:default')
    const forks = await sandbox.fork({ count: 2 })
    await sandbox.files.write('note', 'changed later')
    const fromSnapshot = await test.e2b.Sandbox.create(snapshotId)
    const others = [
      fromSnapshot,
      ...forks.flatMap((fork) => ('sandbox' in fork ? [fork.sandbox] : [fork])),
    ]
    expect(others).toHaveLength(3)
    for (const other of others as Sandbox[]) {
      expect(other.sandboxId).not.toBe(sandbox.sandboxId)
      await expect(other.files.read('note')).resolves.toBe('from the first')
      await other.kill()
    }
    const pages = sandbox.listSnapshots()
    expect((await pages.nextItems()).map((each) => each.snapshotId)).toEqual([snapshotId])
    await expect(test.e2b.Sandbox.deleteSnapshot(snapshotId)).resolves.toBe(true)
    await expect(test.e2b.Sandbox.deleteSnapshot(snapshotId)).resolves.toBe(false)
    await sandbox.kill()
    await expect(readdir(join(test.data, 'disks'))).resolves.toEqual([])
  })

  it('tells what it uses', async () => {
    const sandbox = await create()
    const [metric] = await sandbox.getMetrics()
    expect(metric?.memTotal).toBe(1024 * 2 ** 20)
    expect(metric?.memUsed).toBeGreaterThan(0)
    expect(metric?.diskTotal).toBeGreaterThan(metric?.diskUsed ?? 0)
    await sandbox.kill()
  })

  it('refuses a wrong key and a template that is not there', async () => {
    const wrong = { apiKey: `e2b_${'0'.repeat(40)}`, apiUrl: test.server.url }
    await expect(test.e2b.Sandbox.create(wrong)).rejects.toMatchObject({
      name: 'AuthenticationError',
    })
    await expect(test.e2b.Sandbox.create('no-such')).rejects.toThrow(/no-such/)
  })

  it('a paused one outlives the server; a running one does not', async () => {
    const paused = await create()
    await paused.files.write('kept.txt', 'kept')
    await paused.pause()
    const pausing = await create({ lifecycle: { onTimeout: 'pause' } })
    await pausing.files.write('kept.txt', 'too')
    const running = await create()
    await test.restart()
    const left = (await listAll({})).map(({ sandboxId }) => sandboxId)
    expect(left.toSorted()).toEqual([paused.sandboxId, pausing.sandboxId].toSorted())
    expect(left).not.toContain(running.sandboxId)
    const again = await test.e2b.Sandbox.connect(paused.sandboxId)
    await expect(again.files.read('kept.txt')).resolves.toBe('kept')
    const other = await test.e2b.Sandbox.connect(pausing.sandboxId)
    await expect(other.files.read('kept.txt')).resolves.toBe('too')
  })
})
