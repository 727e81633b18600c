import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Socket } from 'node:net'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadFuseIo } from '../fuse/native.ts'
import { socketPair } from './daemon-process.ts'
import { findStandby } from './standby.ts'
import { markProcess } from './state.ts'

const isLinux = process.platform === 'linux'

describe.skipIf(!isLinux)('what stands by for a supervisor (needs Linux and a C compiler)', () => {
  let directory: string
  let log: string
  let daemon: ChildProcess
  let channel: Socket
  let output: Socket
  let process: ChildProcess

  beforeEach(async () => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-standby-'))
    log = join(directory, 'daemon.log')
    daemon = spawn('sleep', ['1000'])
    await start('/bin/sh', '-c', 'echo "$@" $$; head -n 1 <&4', 'sh')
  })
  afterEach(async () => {
    for (const child of [daemon, process]) child.kill('SIGKILL')
    for (const socket of [channel, output]) socket.destroy()
    rmSync(directory, { recursive: true })
  })

  /** With a shell in place of the supervisor: it prints its arguments, its number and what it hears from the daemon. */
  async function start(...supervisor: string[]): Promise<void> {
    const io = await loadFuseIo()
    const [ours, theirs] = [socketPair(io), socketPair(io)]
    const program = (await findStandby())!
    const mark = markProcess(daemon.pid!)!
    const args = [`${mark.pid}`, mark.startedAt, log, ...supervisor]
    const stdio = ['ignore', 'pipe', 'inherit', 'ignore', ours[1], theirs[1]] as const
    process = spawn(program, args, { stdio: [...stdio] })
    for (const fd of [ours[1], theirs[1]]) closeSync(fd)
    ;[channel, output] = [ours, theirs].map(([fd]) => new Socket({ fd })) as [Socket, Socket]
  }

  async function said(): Promise<string> {
    const pieces: Buffer[] = []
    process.stdout!.on('data', (piece: Buffer) => pieces.push(piece))
    await once(process, 'close')
    return Buffer.concat(pieces).toString()
  }

  it('becomes it when the daemon has something to say, which it hears, as the same process', async () => {
    const heard = said()
    channel.write('unmount\n')
    expect(await heard).toBe(`${process.pid}\nunmount\n`)
  })

  it('becomes it when the daemon has closed its end', async () => {
    const heard = said()
    channel.end()
    expect(await heard).toBe(`${process.pid}\n`)
  })

  it('becomes it when the daemon is dead and its sockets are open', async () => {
    const heard = said()
    process.stdout!.once('data', () => channel.end())
    daemon.kill('SIGKILL')
    expect(await heard).toBe(`${process.pid}\n`)
  })

  it.each(['SIGTERM', 'SIGINT'] as const)('%s makes it one that stops', async (signal) => {
    const heard = said()
    // It has begun to listen when it has taken what the daemon printed.
    output.write('begun\n')
    await expect.poll(() => statSync(log, { throwIfNoEntry: false })?.size).toBe(6)
    process.kill(signal)
    channel.end()
    expect(await heard).toBe(`stop ${process.pid}\n`)
  })

  it('keeps what the daemon prints, for its owner alone, and no more than two logs of a MiB', async () => {
    writeFileSync(`${log}.1`, 'oldest')
    writeFileSync(log, Buffer.alloc((1 << 20) + 1, 'o'), { mode: 0o600 })
    output.write('printed\n')
    await expect.poll(() => readFileSync(log, 'utf8')).toBe('printed\n')
    expect(statSync(`${log}.1`).size).toBe((1 << 20) + 1)
    expect(statSync(log).mode & 0o777).toBe(0o600)
  })

  it('takes less than 2 MB', async () => {
    output.write('begun\n')
    await expect.poll(() => statSync(log, { throwIfNoEntry: false })?.size).toBe(6)
    const usage = readFileSync(`/proc/${process.pid}/smaps_rollup`, 'latin1')
    expect(Number(/^Rss: +(\d+) kB$/m.exec(usage)![1])).toBeLessThan(2048)
  })

  it('what stands by for a supervisor whose program is gone ends, and the log says so', async () => {
    process.kill('SIGKILL')
    await start('/nowhere/cairn')
    const ended = once(process, 'exit')
    channel.end()
    expect(await ended).toEqual([1, null])
    expect(readFileSync(log, 'utf8')).toBe(
      'the program of the supervisor is gone: the mount ends\n',
    )
  })
})
