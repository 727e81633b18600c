import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, statSync, writeSync } from 'node:fs'
import { release } from 'node:os'
import { createInterface } from 'node:readline'
import { afterAll, afterEach, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

/** Numbers of system calls: of x86-64, and of arm64. */
const [copyFileRange, sendfile] = process.arch === 'arm64' ? [285, 71] : [326, 40]
const copyCalls: Readonly<Record<string, number>> = { copy_file_range: copyFileRange, sendfile }

/** Opens, waits for a line, and copies by one call without asking for the size. */
const copyOnceAsked = `
  my ($number, $call) = @ARGV;
  open(my $from, '<', 'grows') or die; open(my $to, '>', 'copied') or die;
  $| = 1; print "open\n"; <STDIN>;
  my ($in, $out, $most) = (fileno($from), fileno($to), 1 << 20);
  my $copied = $call eq 'sendfile'
    ? syscall($number + 0, $out, $in, 0, $most)
    : syscall($number + 0, $in, 0, $out, 0, $most, 0);
  print "$copied\n"`

/** Appends one line, in its own way. */
type Appender = (line: string) => Promise<unknown>

describe.skipIf(noMount)('appends', () => {
  let site: Site
  let a: SiteMount
  const open: number[] = []

  beforeAll(async () => {
    site = await Site.open()
    a = await site.mount('/')
  })
  afterAll(() => site.close())
  afterEach(() => {
    for (const fd of open.splice(0)) closeSync(fd)
  })

  async function http(method: string, name: string, body: string, query = ''): Promise<void> {
    const url = `${site.url}/v1/workspaces/demo/files/${name}${query}`
    const headers = { authorization: `Bearer ${site.key}` }
    const { ok, status } = await fetch(url, { method, headers, body })
    if (!ok) throw new Error(`${method} ${name}: ${status}`)
  }

  const byHttp =
    (name: string): Appender =>
    (line) =>
      http('POST', name, line, '?append')

  /** `echo >>`: opens the file for each line. */
  const byShell =
    (mount: SiteMount, name: string): Appender =>
    (line) =>
      mount.sh(`printf %s '${line}' >> ${name}`)

  /** A descriptor that stays open. */
  function byDescriptor(mount: SiteMount, name: string): Appender {
    const fd = openSync(mount.path(name), 'a')
    open.push(fd)
    return async (line) => expect(writeSync(fd, line)).toBe(line.length)
  }

  /**
   * Each appends in turn. After each line the readers see all lines so far: soon, because a write over HTTP does not wait
   * for mounts, and a kernel that is told to drop a page does so a moment later.
   */
  async function inTurn(
    name: string,
    appenders: readonly Appender[],
    readers: readonly SiteMount[],
    lines: readonly string[],
  ): Promise<void> {
    let expected = ''
    for (const [index, line] of lines.entries()) {
      await appenders[index % appenders.length]!(line)
      expected += line
      for (const reader of readers) await expectText(reader, name, expected)
    }
    await expectText(a, name, expected)
  }

  async function expectText(mount: SiteMount, name: string, expected: string): Promise<void> {
    const path = mount.path(name)
    const look = (): unknown => [statSync(path).size, readFileSync(path, 'utf8')]
    await expect.poll(look, { timeout: 30_000 }).toEqual([expected.length, expected])
  }

  const lines = (count: number, length = 10): string[] =>
    Array.from({ length: count }, (_, index) => `${`line ${index} `.padEnd(length, '.')}\n`)

  it('by a shell and by HTTP in turn: no line disappears', async () => {
    await inTurn('shell', [byShell(a, 'shell'), byHttp('shell')], [], lines(8))
    await inTurn('read', [byShell(a, 'read'), byHttp('read')], [a], lines(8))
  })

  it('by an open O_APPEND descriptor and by HTTP in turn: no line disappears', async () => {
    await http('PUT', 'descriptor', '')
    await inTurn('descriptor', [byDescriptor(a, 'descriptor'), byHttp('descriptor')], [], lines(8))
    await http('PUT', 'both', '')
    await inTurn('both', [byDescriptor(a, 'both'), byHttp('both')], [a], lines(8))
  })

  it('after a file was shortened by HTTP, `>>` goes on at its new end', async () => {
    await a.sh('seq 1000 > shortened; cat shortened > /dev/null')
    const fd = openSync(a.path('shortened'), 'a')
    open.push(fd)
    await http('PUT', 'shortened', 'short\n')
    await a.sh('echo more >> shortened')
    await expectText(a, 'shortened', 'short\nmore\n')
    await http('PUT', 'shortened', 's\n')
    writeSync(fd, 'again\n')
    await expectText(a, 'shortened', 's\nagain\n')
  })

  it('longer than a page, by everybody in turn, read after each: no byte is elsewhere', async () => {
    await http('PUT', 'long', '')
    const appenders = [byDescriptor(a, 'long'), byHttp('long'), byShell(a, 'long')]
    await inTurn('long', appenders, [a], lines(9, 5000))
  })

  it('by two mounts, a descriptor on each, and HTTP in turn', async () => {
    const b = await site.mount('/')
    await http('PUT', 'two', '')
    const appenders = [
      byDescriptor(a, 'two'),
      byDescriptor(b, 'two'),
      byHttp('two'),
      byShell(b, 'two'),
      byShell(a, 'two'),
    ]
    await inTurn('two', appenders, [], lines(15))
    await http('PUT', 'two', '')
    await inTurn('two', appenders, [a, b], lines(10, 3000))
    for (const fd of open.splice(0)) closeSync(fd)
    await b.unmount()
  })

  it.each(Object.keys(copyCalls))(
    '%s of a file that was open before goes to its new end',
    async (call) => {
      await http('PUT', 'grows', 'one\n')
      const copying = spawn('perl', ['-e', copyOnceAsked, `${copyCalls[call]}`, call], {
        cwd: a.directory,
        stdio: ['pipe', 'pipe', 'inherit'],
      })
      const said = createInterface(copying.stdout)[Symbol.asyncIterator]()
      expect((await said.next()).value).toBe('open')
      for (const line of ['two\n', 'x'.repeat(10_000)]) await http('POST', 'grows', line, '?append')
      copying.stdin.end('now\n')
      expect((await said.next()).value).toBe('10008')
      expect(await a.sh('cmp grows copied && rm copied')).toBe('')
    },
  )

  it('by two mounts in turn, then by the one that stays: older lines stay', async () => {
    const b = await site.mount('/')
    const before = lines(6)
    for (const line of before.keys()) await byShell(line % 2 === 0 ? a : b, 'stays')(before[line]!)
    // Not asked on `a`: its kernel would then know the size.
    await expectText(b, 'stays', before.join(''))
    await b.unmount()
    await a.sh('echo one more >> stays')
    await expect.poll(async () => (await a.status()).standing, { timeout: 30_000 }).toBe('lease')
    await a.sh('echo and another >> stays; echo the last >> stays')
    expect(await a.sh('cat stays')).toBe(`${before.join('')}one more\nand another\nthe last\n`)
    await a.drain()
    const { stdout } = await site.cairn(['fs', 'cat', ':/stays'])
    expect(stdout).toBe(`${before.join('')}one more\nand another\nthe last\n`)
  })
})

/** Before 6.6 a file that goes past the kernel's pages cannot be mapped, so none does. */
const [major = 0, minor = 0] = release().split('.').map(Number)
const isBefore66 = major < 6 || (major === 6 && minor < 6)

describe.skipIf(noMount ?? isBefore66)('two mounts with shared locks (needs Linux 6.6)', () => {
  let site: Site
  beforeAll(async () => {
    site = await Site.open()
  })
  afterAll(() => site.close())

  it('append longer lines than a page border lets pass: none is torn', async () => {
    const mounts = [
      await site.mount('/', '--shared-locks'),
      await site.mount('/', '--shared-locks'),
    ]
    await mounts[0]!.sh(': > log')
    const lines = (mark: string): string =>
      `python3 -c "import os; fd = os.open('log', os.O_WRONLY | os.O_APPEND)
for i in range(40): os.write(fd, b'${mark}' * 2999 + b'\\n')"`
    await Promise.all([mounts[0]!.sh(lines('a')), mounts[1]!.sh(lines('b'))])
    const counted = await mounts[0]!.sh('sort log | uniq -c | cut -c1-9')
    expect(
      counted
        .trim()
        .split('\n')
        .map((line) => line.trim()),
    ).toEqual(['40 a', '40 b'])
  })
})
