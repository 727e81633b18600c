// What programs read of a file while other clients change it.
import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

/** For longer runs: `CAIRN_RUNS=20 npx vitest run test/mount/beside-readers`. */
const runs = Number(process.env['CAIRN_RUNS'] ?? 1)
const lineBytes = 32

/** Reads the whole file again and again, and prints what of it is no line. */
const readLines = `
  const { readFileSync } = require('node:fs')
  for (let count = 0; ; count++) {
    const text = readFileSync('log', 'latin1')
    const bad = text.match(/.{31}\\n|[^]+/g)?.find((line) => !/^[a-z]+ \\d+ \\.+\\n$/.test(line))
    if (bad !== undefined) console.log(JSON.stringify(bad.slice(0, 100)))
    if (count === 0) console.log('ready')
  }`

/** Reads without an end. */
const readOn = `
  const { openSync, readSync } = require('node:fs')
  const [file, bytes] = [openSync('file', 'r'), Buffer.alloc(8192)]
  for (let count = 0; ; count++) {
    readSync(file, bytes, 0, bytes.length, 0)
    if (count === 0) console.log('ready')
  }`

/** Writes a number, and prints what it then reads if that is another one. */
const writeAndRead = `
  const { openSync, readSync, writeSync } = require('node:fs')
  const [file, bytes] = [openSync('file', 'r+'), Buffer.alloc(8)]
  for (let count = 0; count < ${60 * runs}; count++) {
    const text = String(count).padStart(8)
    writeSync(file, text, 100)
    readSync(file, bytes, 0, 8, 100)
    if (bytes.toString() !== text) console.log(text + ' was read as ' + bytes)
  }
  console.log('done')`

describe.skipIf(noMount)('a file that other clients change', { timeout: 300_000 }, () => {
  let site: Site
  let mount: SiteMount
  const programs: ChildProcess[] = []

  beforeAll(async () => {
    site = await Site.open()
    mount = await site.mount('/')
    await site.mount('/')
  })
  afterAll(() => site.close())
  afterEach(() => {
    for (const program of programs.splice(0)) program.kill('SIGKILL')
  })

  /** Starts a program in the mount. Gives what it prints. */
  function start(script: string): string[] {
    const program = spawn(process.execPath, ['-e', script], {
      cwd: mount.directory,
      stdio: ['ignore', 'pipe', 'inherit'],
    })
    programs.push(program)
    const said: string[] = []
    createInterface(program.stdout).on('line', (line) => said.push(line))
    return said
  }

  async function change(method: string, url: string, body: string, range?: string): Promise<void> {
    const headers = {
      authorization: `Bearer ${site.key}`,
      ...(range !== undefined && { 'content-range': range }),
    }
    const answer = await fetch(`${site.url}/v1/workspaces/demo/files/${url}`, {
      method,
      headers,
      body,
    })
    expect(answer.status, await answer.text()).toBeLessThan(300)
  }

  it('a reader of a log sees whole lines, and never zeros, while others append', async () => {
    await change('PUT', 'log', '')
    const said = start(readLines)
    await expect.poll(() => said, { timeout: 30_000 }).toContain('ready')
    for (let count = 0; count < 150 * runs; count++) {
      const line = (who: string): string => `${who} ${count} `.padEnd(lineBytes - 1, '.')
      await change('POST', 'log?append', `${line('http')}\n`)
      if (count % 10 === 0) await mount.sh(`echo '${line('shell')}' >> log`)
    }
    expect(said).toEqual(['ready'])
  })

  it('a program reads what it wrote, while others read the file and change another part of it', async () => {
    await change('PUT', 'file', 'x'.repeat(8192))
    const reading = start(readOn)
    await expect.poll(() => reading, { timeout: 30_000 }).toContain('ready')
    const said = start(writeAndRead)
    const ended = once(programs.at(-1)!, 'close')
    while (programs.at(-1)!.exitCode === null) await change('PATCH', 'file', 'y', 'bytes 200-200/*')
    await ended
    expect(said).toEqual(['done'])
  })
})
