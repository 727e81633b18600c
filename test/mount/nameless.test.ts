import { type ChildProcess, spawn } from 'node:child_process'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import type { SessionClient } from '@cairn/mount'
import { decodeInos } from '@cairn/protocol'
import { openSession } from '../sessions/fixture.ts'
import { noMount, Site, type SiteMount } from './fixture.ts'

/** Short: a file without a name that no session holds is deleted after two of them. */
const leaseMs = 3000

/** Opens a file, and with each line reads it, or appends to it and reads it. Says what it read. */
const program = `
  const fs = require('node:fs')
  const fd = fs.openSync('open', process.argv[1])
  const bytes = Buffer.alloc(100)
  const look = () => bytes.toString('utf8', 0, fs.readSync(fd, bytes, 0, 100, 0))
  console.log('ready')
  require('node:readline').createInterface(process.stdin).on('line', (line) => {
    try {
      if (line !== '') fs.writeSync(fd, line, fs.fstatSync(fd).size)
      console.log(look())
    } catch (error) {
      console.log(error.code)
    }
  })`

describe.skipIf(noMount)('a file that is removed while a program has it open', () => {
  let site: Site
  let started: ChildProcess | undefined
  let said: string[]
  let watch: SessionClient
  beforeEach(async () => {
    site = await Site.open({ leaseMs })
    for (const name of ['open', 'closed']) await http('PUT', name, 'first')
    watch = openSession(site, { key: site.key, workspace: 'demo', mode: 'read' })
  })
  afterEach(async () => {
    watch.abandon()
    started?.kill('SIGKILL')
    await site.close()
  })

  async function open(mount: SiteMount, flags: string): Promise<void> {
    said = []
    started = spawn(process.execPath, ['-e', program, flags], {
      cwd: mount.directory,
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    createInterface(started.stdout!).on('line', (line) => said.push(line))
    await expect.poll(() => said, { timeout: 30_000 }).toEqual(['ready'])
  }

  async function tell(line: string): Promise<string> {
    const count = said.length
    started!.stdin!.write(`${line}\n`)
    await expect.poll(() => said.length, { timeout: 30_000 }).toBe(count + 1)
    return said.at(-1)!
  }

  async function http(method: string, name: string, body?: string): Promise<void> {
    const url = `${site.url}/v1/workspaces/demo/files/${name}`
    const headers = { authorization: `Bearer ${site.key}` }
    const answer = await fetch(url, { method, headers, ...(body ? { body } : {}) })
    expect(answer.ok).toBe(true)
  }

  /** Resolves when the server has so many files without a name. */
  async function whenNameless(count: number): Promise<void> {
    const find = async (): Promise<number> =>
      decodeInos(await watch.ask({ type: 'nameless' })).length
    await expect.poll(find, { timeout: 30_000 }).toBe(count)
  }

  it('HTTP removes it: the program reads and writes on', async () => {
    const a = await site.mount('/')
    await open(a, 'r+')
    for (const name of ['open', 'closed']) await http('DELETE', name)
    await whenNameless(1)
    expect(await tell('')).toBe('first')
    expect(await tell(' and more')).toBe('first and more')
  })

  it('another mount removes it: a mount that only reads reads on', async () => {
    const a = await site.mount('/', '--read-only')
    const b = await site.mount('/')
    await open(a, 'r')
    await b.sh('rm open closed')
    await b.drain()
    await whenNameless(1)
    expect(await tell('')).toBe('first')
  })

  it('stays when the daemon is replaced, and is deleted when the program closes it', async () => {
    const a = await site.mount('/')
    await open(a, 'r+')
    await a.sh('rm open closed')
    await a.drain()
    process.kill(a.processes().daemon, 'SIGKILL')
    await whenNameless(1)
    expect(await tell(' and more')).toBe('first and more')
    await a.drain()
    started!.stdin!.end()
    await whenNameless(0)
  })
})
