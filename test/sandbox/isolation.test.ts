import { spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { connect } from 'node:net'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { findTraces, say, useJails } from './jail-fixture.ts'
import { noJail } from './local-setup.ts'

describe.skipIf(noJail !== undefined)(`a jail (${noJail ?? 'as root'})`, () => {
  const jails = useJails()

  it('sees no process of the host and reaches none', async () => {
    const jail = await jails.make()
    const host = spawn('sleep', ['1000'])
    onTestFinished(() => void host.kill())
    const { text } = await say(jail, 'ls /proc | grep -c "^[0-9]"', 'root')
    expect(Number(text)).toBeLessThan(8)
    expect(await say(jail, `kill -9 ${host.pid}`, 'root')).toMatchObject({ code: 1 })
    const attach = `import ctypes; print(ctypes.CDLL(None, use_errno=True).ptrace(16, ${host.pid}, 0, 0), ctypes.get_errno())`
    expect((await say(jail, `python3 -c '${attach}'`, 'root')).text).toBe('-1 3\n')
    expect(host.exitCode).toBeNull()
  })

  it('sees no data of the host', async () => {
    const jail = await jails.make()
    const marker = join(jails.directory, `secret-${randomUUID()}`)
    writeFileSync(marker, 'secret')
    expect(await say(jail, `cat ${marker}`, 'root')).toMatchObject({ code: 1 })
    expect((await say(jail, 'ls -A /root /home /opt /srv /mnt /var/log', 'root')).text).toBe(
      [
        '/home:',
        'user',
        '',
        '/mnt:',
        '',
        '/opt:',
        '',
        '/root:',
        '',
        '/srv:',
        '',
        '/var/log:',
        '',
      ].join('\n'),
    )
    const search = `find / -xdev -name '${marker.split('/').at(-1)}' 2>/dev/null`
    expect((await say(jail, search, 'root')).text).toBe('')
  })

  it('a jail has none of what only root of the host may read', async () => {
    const jail = await jails.make()
    const closed = readdirSync('/etc', { recursive: true, encoding: 'utf8' })
      .map((name) => join('/etc', name))
      .filter((path) => isClosed(path))
    expect(closed).toContain('/etc/shadow')
    for (const path of closed) {
      const { text } = await say(jail, `cat '${path}'`, 'root')
      expect([path, text]).not.toEqual([path, readFileSync(path, 'utf8')])
    }
    const { text } = await say(jail, "cut -d: -f2 /etc/shadow | sort -u | tr '\\n' ' '", 'root')
    expect(text).toBe('* ')
  })

  it('sees nothing of another jail', async () => {
    const [one, other] = [await jails.make(), await jails.make()]
    const server = await one.start({ args: ['python3', '-m', 'http.server', '8123'] })
    await expect
      .poll(() =>
        one.connect(8123).then(
          (socket) => !!socket.destroy(),
          () => false,
        ),
      )
      .toBe(true)
    await say(one, 'echo mine > /tmp/mine; echo mine > /dev/shm/mine')
    await expect(other.connect(8123)).rejects.toMatchObject({ code: 'ECONNREFUSED' })
    expect(await canReach(8123)).toBe(false)
    const { text } = await say(other, 'cat /tmp/mine /dev/shm/mine; ps ax', 'root')
    expect(text).not.toContain('http.server')
    expect(text).not.toMatch(/^mine$/m)
    server.signal('SIGTERM')
  })

  it.each([
    ['a block device', 'mknod /tmp/disk b 254 0'],
    ['the memory', 'mknod /tmp/mem c 1 1'],
    ['a file system of a disk', 'mount -t ext4 /dev/vda /mnt'],
    ['the kernel it dumps cores with', 'echo "|/tmp/x" > /proc/sys/kernel/core_pattern'],
    ['the machine', 'echo b > /proc/sysrq-trigger'],
    ['the memory of the kernel', 'head -c1 /proc/kcore'],
    ['modules', 'echo x > /proc/sys/kernel/modprobe'],
    ['the clock', 'date -s 2000-01-01'],
    ['what was mounted for it', 'umount /dev/shm || umount /proc || umount /etc'],
    ['what is read-only', 'mount -o remount,bind,rw /sys/devices/system/cpu'],
    ['cgroups', 'mkdir -p /mnt/c && mount -t cgroup2 none /mnt/c && echo 1 > /mnt/c/cgroup.freeze'],
    ['the log of the kernel', 'dmesg'],
    ['the network of the host', 'ip link show | grep -v " lo:" | grep "^[0-9]"'],
  ])('gives root no way to %s', async (_, script) => {
    const jail = await jails.make()
    const { code, text } = await say(jail, script, 'root')
    expect(code, text).not.toBe(0)
  })

  it('a jail has devices of its own and only harmless ones', async () => {
    const jail = await jails.make()
    const { text } = await say(jail, 'ls /dev', 'root')
    expect(text.trim().split('\n').toSorted()).toEqual(
      'fd full fuse null ptmx pts random shm stderr stdin stdout tty urandom zero'.split(' '),
    )
    const before = statSync('/dev/fuse').mode
    expect(await say(jail, 'chmod 600 /dev/fuse', 'root')).toMatchObject({ code: 0 })
    expect(statSync('/dev/fuse').mode).toBe(before)
  })

  it('a jail is left by no chroot', async () => {
    const jail = await jails.make()
    const escape = [
      'import os',
      'os.mkdir("/tmp/d"); os.chroot("/tmp/d")',
      'for _ in range(50): os.chdir("..")',
      'os.chroot(".")',
      'print(sorted(os.listdir("/home")))',
    ].join('\n')
    expect((await say(jail, `python3 -c '${escape}'`, 'root')).text).toBe("['user']\n")
  })

  it('keeps what its root made setuid out of reach of the host', async () => {
    const jail = await jails.make()
    await say(jail, 'cp /bin/true /tmp/shell && chmod 4755 /tmp/shell', 'root')
    const own = join(jails.directory, jail.id)
    expect(statSync(own).mode & 0o077).toBe(0)
  })

  it('a snapshot with symlinks on its paths touches no file of the host', async () => {
    const victim = join(jails.directory, 'victim')
    const hostile = await jails.make()
    await say(hostile, `rm -rf /mnt && ln -s ${jails.directory} /mnt; ln -s / /srv/up`, 'root')
    await hostile.snapshot(victim)
    const before = readdirSync(jails.directory).toSorted()
    const bound = { source: '/etc/hostname', target: '/mnt/made/here' }
    await jails
      .make({ id: 'second', base: { snapshot: victim }, binds: [bound] })
      .then((jail) => jail.kill())
      .catch(() => undefined)
    expect(readdirSync(jails.directory).toSorted()).toEqual(before)
  })

  it('keeps a fork bomb inside, and can be killed under it', async () => {
    const jail = await jails.make({ limits: { processes: 64 } })
    await jail.start({ args: ['/bin/bash', '-c', 'bomb() { bomb | bomb & }; bomb'] })
    await expect.poll(async () => (await jail.usage()).processes).toBeGreaterThan(50)
    expect((await jail.usage()).processes).toBeLessThanOrEqual(64)
    await jail.kill()
    expect(findTraces(jail.id)).toEqual([])
  })

  it('a program that takes too much memory is ended, and the jail goes on', async () => {
    const jail = await jails.make({ limits: { memoryBytes: 64 << 20 } })
    const hog = await say(jail, 'exec python3 -c "x = bytearray(500 << 20)"')
    expect(hog).toMatchObject({ code: null, signal: 'SIGKILL' })
    const shared = await say(jail, 'head -c 500M /dev/zero > /dev/shm/fill')
    expect(shared.code).not.toBe(0)
    expect(await say(jail, 'rm -f /dev/shm/fill; echo alive')).toMatchObject({ text: 'alive\n' })
  })

  it('takes no more of the processors than it may', async () => {
    const jail = await jails.make({ limits: { cpus: 0.2 } })
    const start = performance.now()
    await say(jail, 'timeout 1 sh -c "while :; do :; done"')
    const { cpuMicroseconds } = await jail.usage()
    expect(cpuMicroseconds / 1000).toBeLessThan((performance.now() - start) * 0.5)
  })

  it('leaves nothing when it is killed, frozen or busy', async () => {
    const jail = await jails.make()
    await say(jail, 'setsid nohup sleep 1000 >/dev/null 2>&1 & sudo mount -t tmpfs none /mnt')
    expect(findTraces(jail.id)).not.toEqual([])
    await jail.freeze()
    await jail.kill()
    await jail.kill()
    expect(findTraces(jail.id)).toEqual([])
    expect(readdirSync(jails.directory)).not.toContain(jail.id)
    await expect(jail.start({ args: ['true'] })).rejects.toMatchObject({ step: 'jail' })
  })
})

function isClosed(path: string): boolean {
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: 0o44 }
  return (mode & 0o170000) === 0o100000 && (mode & 0o4) === 0
}

function canReach(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1', () => resolve(true))
    socket.once('error', () => resolve(false))
    onTestFinished(() => void socket.destroy())
  })
}
