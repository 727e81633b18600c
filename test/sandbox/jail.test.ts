import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import type { Jail } from '@cairn/sandbox'
import { say, useJails } from './jail-fixture.ts'
import { noJail } from './local-setup.ts'

describe.skipIf(noJail !== undefined)(`a jail's programs (${noJail ?? 'as root'})`, () => {
  const jails = useJails()

  it('a jail’s programs have a user, a home and an environment, and nothing of the host', async () => {
    const jail = await jails.make({ hostname: 'box' })
    const program = await jail.start({ args: ['env'], env: { ONE: '1', PATH: '/usr/bin' } })
    expect((await text(program.stdout)).trim().split('\n').toSorted()).toEqual([
      'HOME=/home/user',
      'LOGNAME=user',
      'ONE=1',
      'PATH=/usr/bin',
      'SHELL=/bin/bash',
      'USER=user',
    ])
    expect((await say(jail, 'pwd; id -u; hostname; getent hosts box')).text).toMatch(
      /^\/home\/user\n1000\nbox\n127\.0\.1\.1\s+box\n$/,
    )
  })

  it('a jail’s programs that cannot be started say at which step', async () => {
    const jail = await jails.make()
    await expect(jail.start({ args: ['true'], cwd: '/nowhere' })).rejects.toMatchObject({
      step: 'cwd',
    })
    await expect(jail.start({ args: ['true'], user: 'stranger' })).rejects.toMatchObject({
      step: 'user',
    })
    const missing = await jail.start({ args: ['no-such-program'] })
    expect(await text(missing.stderr)).toBe('no-such-program: command not found\n')
    expect(await missing.exit).toEqual({ code: 127, signal: null })
  })

  it('read what they are given, and get signals, also when they are stopped', async () => {
    const jail = await jails.make()
    const cat = await jail.start({ args: ['cat'], stdin: 'pipe' })
    cat.stdin!.end('given')
    expect(await text(cat.stdout)).toBe('given')
    const sleeper = await jail.start({ args: ['sleep', '1000'] })
    // The last that it says as the helper is its number; it becomes the program right after.
    await expect
      .poll(async () => (await say(jail, `cat /proc/${sleeper.pid}/comm`)).text)
      .toBe('sleep\n')
    sleeper.signal('SIGSTOP')
    await expect
      .poll(async () => (await say(jail, `cut -d' ' -f3 /proc/${sleeper.pid}/stat`)).text)
      .toBe('T\n')
    sleeper.signal('SIGKILL')
    expect(await sleeper.exit).toEqual({ code: null, signal: 'SIGKILL' })
    sleeper.signal('SIGKILL')
  })

  it('a jail’s programs can open their output again, and have nothing else open', async () => {
    const jail = await jails.make()
    const echo = await jail.start({
      args: ['sh', '-c', 'echo out > /dev/stdout; echo err > /dev/stderr'],
    })
    expect(await Promise.all([text(echo.stdout), text(echo.stderr)])).toEqual(['out\n', 'err\n'])
    // Number 3 is the directory that is listed.
    expect((await say(jail, 'exec ls /proc/self/fd')).text).toBe('0\n1\n2\n3\n')
  })

  it('may read and write a lot at once', async () => {
    const jail = await jails.make()
    const cat = await jail.start({ args: ['cat'], stdin: 'pipe' })
    const much = 'x'.repeat(5_000_000)
    cat.stdin!.end(much)
    expect((await text(cat.stdout)).length).toBe(much.length)
  })

  it('end before what they started does, which may go on writing', async () => {
    const jail = await jails.make()
    const program = await jail.start({
      args: ['sh', '-c', '(cat; echo late) & echo first'],
      stdin: 'pipe',
    })
    const said = text(program.stdout)
    expect(await program.exit).toEqual({ code: 0, signal: null })
    program.stdin!.end()
    expect(await said).toBe('first\nlate\n')
  })

  it('may have a terminal: with a size, a name and Ctrl-C', async () => {
    const jail = await jails.make()
    const shell = await jail.start({
      args: ['bash', '--norc', '-i'],
      pty: { columns: 90, rows: 30 },
      env: { TERM: 'dumb', PS1: '> ' },
    })
    let shown = ''
    shell.stdout.on('data', (chunk: Buffer) => (shown += chunk.toString()))
    shell.stdin!.write('tty; stty size; sleep 1000\n')
    await expect.poll(() => shown).toContain('/dev/pts/0\r\n30 90\r\n')
    shell.stdin!.write('\u0003')
    shell.resize(100, 40)
    shell.stdin!.write('stty size; exit 3\n')
    expect(await shell.exit).toEqual({ code: 3, signal: null })
    // The last output may still be on its way when the program has ended.
    await expect.poll(() => shown).toContain('40 100\r\n')
  })

  it('a jail’s programs do nothing while the jail is frozen', async () => {
    const [jail, other] = [await jails.make(), await jails.make()]
    const busy = await jail.start({ args: ['sh', '-c', 'while :; do :; done'] })
    await jail.freeze()
    await jail.freeze()
    const { cpuMicroseconds } = await jail.usage()
    await say(other, 'ls -R /usr/lib > /dev/null')
    expect((await jail.usage()).cpuMicroseconds).toBe(cpuMicroseconds)
    await jail.thaw()
    await expect
      .poll(async () => (await jail.usage()).cpuMicroseconds)
      .toBeGreaterThan(cpuMicroseconds)
    busy.signal('SIGKILL')
    expect(await busy.exit).toEqual({ code: null, signal: 'SIGKILL' })
  })

  it('see what the host lends them, and write only where they may', async () => {
    const file = join(jails.directory, 'lent')
    writeFileSync(file, 'lent')
    const jail = await jails.make({ binds: [{ source: file, target: '/opt/deep/lent' }] })
    expect((await say(jail, 'cat /opt/deep/lent')).text).toBe('lent')
    expect(await say(jail, 'echo x > /opt/deep/lent', 'root')).toMatchObject({ code: 1 })
  })
})

describe.skipIf(noJail !== undefined)(`a snapshot of a jail (${noJail ?? 'as root'})`, () => {
  const jails = useJails()
  const from = (name: string): Promise<Jail> =>
    jails.make({ base: { snapshot: join(jails.directory, name) } })

  it('a snapshot of a jail has what was written and not what was removed, over any number of them', async () => {
    const first = await jails.make()
    await say(first, 'echo one > ~/one; echo two > ~/two; sudo touch /usr/made; sudo rm /etc/issue')
    await first.snapshot(join(jails.directory, 's1'))
    await say(first, 'echo later > ~/later')
    await first.kill()

    const second = await from('s1')
    const look = 'cat ~/one ~/two; ls ~/later /usr/made /etc/issue 2>&1'
    expect((await say(second, look)).text).toBe(
      "one\ntwo\nls: cannot access '/home/user/later': No such file or directory\n" +
        "ls: cannot access '/etc/issue': No such file or directory\n/usr/made\n",
    )
    await say(second, 'rm ~/one; echo changed > ~/two; sudo rm /usr/made')
    await second.snapshot(join(jails.directory, 's2'))
    await second.kill()

    const [third, again] = [await from('s2'), await from('s1')]
    expect((await say(third, 'ls ~; cat ~/two; ls /usr/made 2>&-')).text).toBe('two\nchanged\n')
    expect((await say(again, 'cat ~/one ~/two')).text).toBe('one\ntwo\n')
    const ids = [third, again].map(async (jail) => {
      const { text: id } = await say(jail, 'cat /proc/sys/kernel/random/boot_id')
      return id
    })
    expect(new Set(await Promise.all(ids)).size).toBe(2)
  })

  it('a snapshot of a jail that is none is refused by name, and leaves nothing', async () => {
    await expect(from('missing')).rejects.toThrow(/missing/)
  })
})
