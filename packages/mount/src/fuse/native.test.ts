import { execFileSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync } from 'node:fs'
import { createRequire } from 'node:module'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Worker } from 'node:worker_threads'
import { describe, expect, it } from 'vitest'
import { hasFuse, mountTemporary, removeMount } from '../../test/memory-mount.ts'
import { loadFuseIo } from './native.ts'

const native = join(import.meta.dirname, '../../native')
const badDescriptor = -9

describe('the native piece', () => {
  it('the native piece is not compiled again for the same sources', async () => {
    const script = join(native, 'build.mjs')
    const { buildFuseIo, buildStandby } = (await import(script)) as Record<string, () => string>
    const paths = [buildFuseIo!(), buildStandby!()]
    // A compiler that fails would be noticed if it were called.
    const again = execFileSync(process.execPath, [script], { env: { CC: 'false' } })
    expect(again.toString().trim().split('\n')).toEqual(paths)
  })

  it('says what to install where there is no compiler', () => {
    const copy = mkdtempSync(join(tmpdir(), 'cairn-native-'))
    try {
      cpSync(native, copy, { recursive: true, filter: (path) => !path.endsWith('build') })
      const build = (): unknown =>
        execFileSync(process.execPath, [join(copy, 'build.mjs')], {
          env: { CC: 'no-such-compiler' },
          stdio: 'pipe',
        })
      expect(build).toThrow(/no C compiler \(no-such-compiler\). Install gcc/)
    } finally {
      rmSync(copy, { recursive: true })
    }
  })

  it.skipIf(!hasFuse)('a closed channel refuses (needs root and /dev/fuse)', async () => {
    const { dir, fd } = await mountTemporary()
    try {
      const io = await loadFuseIo()
      const buffer = new Uint8Array(8192)
      const channel = io.open(fd, buffer, buffer, 0, () => undefined)
      if (typeof channel === 'number') throw new Error(`errno ${-channel}`)
      io.close(channel)
      io.close(channel)
      expect(io.recv(channel)).toBe(badDescriptor)
      expect(io.send(channel, buffer, 16)).toBe(badDescriptor)
    } finally {
      await removeMount(dir, fd)
    }
  })

  it.skipIf(!hasFuse)('a Worker ends with a channel open (needs root and /dev/fuse)', async () => {
    const { dir, fd } = await mountTemporary()
    try {
      const { buildFuseIo } = createRequire(import.meta.url)(join(native, 'build.mjs')) as {
        buildFuseIo: () => string
      }
      const text = `
        const io = require(${JSON.stringify(buildFuseIo())})
        const bytes = () => new Uint8Array(1 << 20)
        io.open(${fd}, bytes(), bytes(), 30, () => undefined)
        require('node:worker_threads').parentPort.postMessage('open')`
      const worker = new Worker(text, { eval: true })
      await new Promise((resolve) => worker.once('message', resolve))
      expect(await worker.terminate()).toBe(1)
    } finally {
      await removeMount(dir, fd)
    }
  })
})
