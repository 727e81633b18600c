import { execFile } from 'node:child_process'
import { existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from './fixture.ts'

/** Makes a file, and tells outside of the mount how far it has got. */
const program = `
  const fs = require('node:fs')
  const [file, marks, ...calls] = process.argv.slice(1)
  let fd
  const steps = {
    write: () => fs.writeSync((fd = fs.openSync(file, 'w')), 'bytes'),
    fsync: () => fs.fsyncSync(fd),
    close: () => fs.closeSync(fd),
  }
  for (const call of calls) {
    steps[call]()
    fs.writeFileSync(marks + '/' + call, '')
  }`

type Call = 'write' | 'fsync' | 'close'
const writer: readonly Call[] = ['write', 'close']
const syncer: readonly Call[] = ['write', 'fsync', 'close']

interface Reached {
  readonly fact: string
  readonly writer: readonly Call[]
  readonly syncer: readonly Call[]
}

/** How far each of them gets while the server answers nothing. */
const reached: Readonly<Record<string, Reached>> = {
  interactive: { fact: 'nothing waits', writer, syncer },
  auto: { fact: 'fsync waits', writer, syncer: ['write'] },
  fsync: { fact: 'fsync waits', writer, syncer: ['write'] },
  'close-sync': { fact: 'fsync and close wait', writer: ['write'], syncer: ['write'] },
  'write-sync': { fact: 'everything waits', writer: [], syncer: [] },
}

describe.skipIf(noMount)('what waits for the server', () => {
  let site: Site

  beforeEach(async () => {
    site = await Site.open()
  })
  afterEach(async () => {
    site.resumeServer()
    await site.close()
  })

  for (const [durability, expected] of Object.entries(reached))
    it(`${durability}: ${expected.fact}, and goes on when the server does`, async () => {
      const mount = await site.mount('/', '--durability', durability)
      writeFileSync(mount.path('before'), '')
      await mount.drain()
      site.haltServer()
      const programs = [
        start('writer', writer, expected.writer),
        start('syncer', syncer, expected.syncer),
      ]
      for (const { name, awaited, marks } of programs) {
        await expect.poll(() => marks()).toEqual(awaited)
        await expect.poll(async () => (await mount.status()).pendingOps).toBeGreaterThan(0)
        // A command takes far longer than a call that does not wait.
        await site.cairn(['version'])
        expect(marks(), name).toEqual(awaited)
      }
      site.resumeServer()
      for (const { ended, marks, calls } of programs) {
        await ended
        expect(marks()).toEqual(calls)
      }
      await mount.drain()
      const later = await site.mount('/', '--read-only')
      expect(await later.sh('cat writer syncer')).toBe('bytesbytes')

      function start(name: string, calls: readonly Call[], awaited: readonly Call[]) {
        const directory = join(site.directory, name)
        mkdirSync(directory)
        const args = ['-e', program, mount.path(name), directory, ...calls]
        const ended = promisify(execFile)(process.execPath, args)
        const marks = (): Call[] => calls.filter((call) => existsSync(join(directory, call)))
        return { name, calls, awaited, marks, ended }
      }
    })
})
