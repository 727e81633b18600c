import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterEach, describe, expect, it } from 'vitest'
import { startPausingProxy } from '../sandbox/pausing-proxy.ts'
import { keyFile } from '@cairn/server/testing/key-file'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { everyRun } from './random/seeds.ts'

/** Short: the other mount waits for its end. */
const leaseMs = 1000

/**
 * Opens a file, waits for a line, and then makes files with O_EXCL and writes to the open file in turn. Says what came
 * of each.
 */
const program = `
  const fs = require('node:fs')
  const fd = fs.openSync('open', 'r+')
  console.log('ready')
  fs.readSync(0, Buffer.alloc(1))
  const attempt = (what, call) => {
    try {
      call()
      console.log(what, 'ok')
    } catch (error) {
      console.log(what, error.code)
    }
  }
  for (let i = 0; i < 30; i++) {
    attempt('create', () => fs.closeSync(fs.openSync('new' + i, 'wx')))
    attempt('write', () => fs.writeSync(fd, 'X', i))
  }`

describe.skipIf(noMount)('a mount that was frozen past its lease', () => {
  let site: Site
  let started: ChildProcess | undefined
  afterEach(async () => {
    started?.kill('SIGKILL')
    await site.close()
  })

  /** Stops both processes of a mount, so that its lease is not renewed. */
  async function freeze(mount: SiteMount): Promise<() => void> {
    const { pid, supervisorPid } = await mount.status()
    for (const one of [supervisorPid, pid]) process.kill(one, 'SIGSTOP')
    return () => {
      for (const one of [pid, supervisorPid]) process.kill(one, 'SIGCONT')
    }
  }

  /** Another mount. Its first write waits until the lease has run out. */
  async function writeElsewhere(): Promise<SiteMount> {
    const mount = await site.mount('/')
    await mount.sh('echo meanwhile > meanwhile')
    return mount
  }

  it('a mount that was frozen past its lease does not make a file that another mount made meanwhile: O_EXCL has one winner', async () => {
    site = await Site.open({ leaseMs })
    const a = await site.mount('/')
    await a.sh('echo before > before')
    await a.drain()
    const thaw = await freeze(a)
    // It waits in the kernel, and is the first thing that the mount sees afterwards.
    const claimed = a.trySh('set -C; echo a > claim')
    const b = await site.mount('/')
    await b.sh('set -C; echo b > claim').finally(thaw)
    expect((await claimed).code).not.toBe(0)
    for (const mount of [a, b])
      await expect.poll(() => mount.sh('cat claim'), { timeout: 30_000 }).toBe('b\n')
  })

  it('cut off for a lease time, answers no O_EXCL and no mkdir before it has heard the server', async () => {
    site = await Site.open({ leaseMs })
    const proxy = await startPausingProxy(site.url)
    try {
      const at = ['--server', proxy.url, '--api-key-file', keyFile(site.key), '--workspace', 'demo']
      const a = await site.mount('/', ...at)
      await a.sh('mkdir d; echo before > d/before')
      await a.drain()
      proxy.pause()
      const b = await site.mount('/')
      await b.sh('set -C; echo b > claim; mkdir directory')
      const claimed = a.trySh('set -C; echo a > claim')
      const made = a.trySh('mkdir directory')
      // Its other writes go on. The kernel keeps those in the same directory waiting.
      await a.sh('echo more >> d/before; echo a > d/plain')
      proxy.cut()
      expect((await claimed).code).not.toBe(0)
      expect((await made).code).not.toBe(0)
      for (const mount of [a, b])
        await expect.poll(() => mount.sh('cat claim d/plain'), { timeout: 30_000 }).toBe('b\na\n')
    } finally {
      proxy.close()
    }
  })

  it.each(everyRun)(
    'creates what it is asked to create, and writes to what is open (run %i)',
    async () => {
      site = await Site.open({ leaseMs })
      const a = await site.mount('/')
      await a.sh('echo before > before; seq 10 > open')
      await a.drain()
      const said: string[] = []
      started = spawn(process.execPath, ['-e', program], {
        cwd: a.directory,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const ended = once(started, 'exit')
      createInterface(started.stdout!).on('line', (line) => said.push(line))
      await expect.poll(() => said, { timeout: 30_000 }).toEqual(['ready'])
      const thaw = await freeze(a)
      // Its first request waits in the kernel, and is the first thing that the mount sees afterwards.
      started.stdin!.write('go\n')
      const b = await writeElsewhere().finally(thaw)
      await ended
      const both = Array.from({ length: 30 }, () => ['create ok', 'write ok']).flat()
      expect(said.slice(1)).toEqual(both)
      const names = Array.from({ length: 30 }, (_, index) => `new${index}`)
      const seen = ['before', 'meanwhile', 'open', ...names].sort().join('\n')
      for (const mount of [a, b]) {
        await expect.poll(() => mount.sh('LC_ALL=C ls'), { timeout: 30_000 }).toBe(`${seen}\n`)
        await expect.poll(() => mount.sh('cat open'), { timeout: 30_000 }).toBe('X'.repeat(30))
      }
    },
  )
})
