import { execFile } from 'node:child_process'
import { chownSync, existsSync, mkdtempSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { runClient } from '../../test/client.ts'
import { MemoryFileSystem } from '../../test/memory-file-system.ts'
import type { Outcome } from '../../test/mount-and-read.ts'
import { hasFuse, MemoryMount } from '../../test/memory-mount.ts'
import { mountFuse, unmount } from './mounting.ts'
import { serveFuse } from './serve.ts'

const program = join(import.meta.dirname, '../../test/mount-and-read.ts')
const plainUser = 65534
const setuid = 0o4000
const fusermount3 = '/usr/bin/fusermount3'
const hasHelper = hasFuse && existsSync(fusermount3) && (statSync(fusermount3).mode & setuid) !== 0

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'cairn-mounting-'))
})
afterEach(() => rmSync(dir, { recursive: true }))

/** In a mount namespace of its own, in which everybody may open /dev/fuse. */
async function runPrivately(unshare: readonly string[], command: string): Promise<Outcome> {
  const open = `
    mount -t tmpfs tmpfs /mnt && mknod -m 666 /mnt/fuse c 10 229 && mount --bind /mnt/fuse /dev/fuse && ${command}`
  const { stdout } = await promisify(execFile)('unshare', [...unshare, 'sh', '-c', open])
  return JSON.parse(stdout) as Outcome
}

describe.skipIf(!hasFuse)('mounting (needs root and /dev/fuse)', () => {
  it('root needs no helper; suid and devices have no effect', async () => {
    await using mount = await MemoryMount.start()
    const line = await mount.run(`
      return fs.readFileSync('/proc/mounts', 'utf8').split('\\n').find((line) => line.includes(dir))`)
    expect(line).toMatch(/^memory \S+ fuse\.cairn rw,nosuid,nodev,/)
  })

  it('a mount point that is not there, or no directory, is told with the remedy', async () => {
    const file = join(dir, 'file')
    writeFileSync(file, '')
    await expect(mountFuse(join(dir, 'absent'))).rejects.toThrow(/does not exist.*mkdir -p/)
    await expect(mountFuse(file)).rejects.toThrow(/not a directory/)
  })

  it('what is not mounted cannot be unmounted', async () => {
    await expect(unmount(dir)).rejects.toThrow(`cannot unmount ${dir}`)
  })

  it('read-only: a write is EROFS and does not reach the daemon', async () => {
    const { fd } = await mountFuse(dir, { readOnly: true })
    const fs = new MemoryFileSystem()
    const server = await serveFuse(fd, fs)
    await expect(runClient(dir, `fs.writeFileSync(dir + '/f', '')`)).rejects.toThrow('EROFS')
    expect(fs.asked).not.toContain('create')
    await unmount(dir)
    await server.closed
  })

  it.skipIf(!hasHelper)('an ordinary user mounts by fusermount3 (skipped without it)', async () => {
    chownSync(dir, plainUser, plainUser)
    const command = `exec setpriv --reuid=${plainUser} --regid=${plainUser} --clear-groups ${process.execPath} --conditions=source ${program} ${dir}`
    expect(await runPrivately(['-m'], command)).toEqual({ how: 'helper', text: 'text' })
  })

  it.skipIf(!hasHelper)('fusermount does, too, where there is no fusermount3', async () => {
    chownSync(dir, plainUser, plainUser)
    const alone = `mkdir /mnt/bin && ln -s ${fusermount3} /mnt/bin/fusermount`
    const command = `${alone} && exec setpriv --reuid=${plainUser} --regid=${plainUser} --clear-groups env PATH=/mnt/bin ${process.execPath} --conditions=source ${program} ${dir}`
    expect(await runPrivately(['-m'], command)).toEqual({ how: 'helper', text: 'text' })
  })

  it('a helper that fails is told with what fixes that', async () => {
    const saying = (said: string): Promise<unknown> =>
      mountFuse(dir, { mounter: ['sh', '-c', `printf '${said}' >&2; exit 1`] })
    await expect(saying('could not determine username')).rejects.toThrow(/useradd --uid/)
    await expect(saying('one\\nfailed to open /etc/mtab')).rejects.toThrow(
      /: one; failed to open .*\. Make the file: sudo ln -s/,
    )
    await expect(saying('')).rejects.toThrow(/sh ended with 1\. Check that sh is setuid/)
  })

  it('root of a user namespace mounts by itself', async () => {
    chownSync(dir, plainUser, plainUser)
    const inner = `unshare -Urm ${process.execPath} --conditions=source ${program} ${dir}`
    const command = `exec setpriv --reuid=${plainUser} --regid=${plainUser} --clear-groups ${inner}`
    expect(await runPrivately(['-m'], command)).toEqual({ how: 'mount', text: 'text' })
  })
})
