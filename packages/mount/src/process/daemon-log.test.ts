import {
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { finished } from 'node:stream/promises'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { openDaemonLog } from './daemon-log.ts'

const full = Buffer.alloc((1 << 20) + 1, 'o')

describe('the log of a daemon', () => {
  let directory: string

  beforeEach(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-log-'))
  })
  afterEach(() => rmSync(directory, { recursive: true }))

  async function print(text: string): Promise<void> {
    const log = openDaemonLog(directory)
    log.end(text)
    await finished(log)
  }

  function text(name: string): string {
    return readFileSync(join(directory, name), 'utf8')
  }

  it('the next daemon continues the same file, which other users cannot read', async () => {
    await print('one\n')
    await print('two\n')
    expect(text('daemon.log')).toBe('one\ntwo\n')
    expect(statSync(join(directory, 'daemon.log')).mode & 0o777).toBe(0o600)
  })

  it('what cannot be written is left out, and what comes after it is kept when it can be', async () => {
    const gone = join(directory, 'gone')
    mkdirSync(gone)
    const log = openDaemonLog(gone)
    const write = promisify((text: string, done: () => void) => log.write(text, done))
    rmSync(gone, { recursive: true })
    await write('lost\n')
    mkdirSync(gone)
    await write('kept\n')
    expect(text('gone/daemon.log')).toBe('kept\n')
  })

  it('a log of exactly 1 MiB is appended to', async () => {
    writeFileSync(join(directory, 'daemon.log'), full.subarray(1))
    await print('on')
    expect(text('daemon.log')).toHaveLength(full.length + 1)
  })

  it('the log of a daemon that prints all the time is bounded and keeps its newest lines', async () => {
    const log = openDaemonLog(directory)
    for (let i = 0; i < 64; i++) log.write(Buffer.alloc(1 << 16, `${i % 10}`))
    log.end('last')
    await finished(log)
    expect(readdirSync(directory).sort()).toEqual(['daemon.log', 'daemon.log.1'])
    for (const name of readdirSync(directory))
      expect(statSync(join(directory, name)).size).toBeLessThanOrEqual((1 << 20) + (1 << 16))
    expect(text('daemon.log')).toMatch(/3last$/)
  })

  it('a larger log begins anew, and the one before is kept', async () => {
    writeFileSync(join(directory, 'daemon.log'), full)
    writeFileSync(join(directory, 'daemon.log.1'), 'oldest')
    await print('anew')
    expect(readdirSync(directory).sort()).toEqual(['daemon.log', 'daemon.log.1'])
    expect(text('daemon.log')).toBe('anew')
    expect(text('daemon.log.1')).toBe(full.toString())
  })
})
