import { readFile } from 'node:fs/promises'
import { FileNotFoundError, type FilesystemEvent, type Sandbox } from 'e2b'
import { beforeAll, describe, expect, it } from 'vitest'
import { canServe, serveForTests } from '../../test/serve-for-test.ts'

describe.skipIf(!canServe)('files, through the e2b package', () => {
  const test = serveForTests()
  let sandbox: Sandbox
  beforeAll(async () => {
    sandbox = await test.e2b.Sandbox.create()
  })

  it('writes and reads text and bytes, and makes parents', async () => {
    const written = await sandbox.files.write('deep/er/file.txt', 'grüße\n')
    expect(written.path).toBe('/home/user/deep/er/file.txt')
    await expect(sandbox.files.read('deep/er/file.txt')).resolves.toBe('grüße\n')
    const bytes = crypto.getRandomValues(new Uint8Array(60_000))
    await sandbox.files.write('/tmp/bytes', bytes.buffer)
    const back = await sandbox.files.read('/tmp/bytes', { format: 'bytes' })
    expect(Buffer.from(back)).toEqual(Buffer.from(bytes))
    const { stdout } = await sandbox.commands.run('stat -c "%U %a" deep deep/er/file.txt')
    expect(stdout).toBe('user 755\nuser 644\n')
  })

  it('writes an empty file, and many at once', async () => {
    await sandbox.files.write('empty', '')
    await expect(sandbox.files.read('empty')).resolves.toBe('')
    const files = ['one', 'two', 'three'].map((name) => ({ path: `/tmp/many/${name}`, data: name }))
    await expect(sandbox.files.write(files)).resolves.toHaveLength(3)
    await expect(sandbox.files.read('/tmp/many/two')).resolves.toBe('two')
  })

  it('takes a stream and gzip, and gives a stream', async () => {
    const data = new Blob(['line\n'.repeat(200_000)])
    await sandbox.files.write('/tmp/streamed', data.stream(), { useOctetStream: true })
    await sandbox.files.write('/tmp/zipped', data, { gzip: true })
    const stream = await sandbox.files.read('/tmp/streamed', { format: 'stream' })
    let size = 0
    for await (const chunk of stream as unknown as AsyncIterable<Uint8Array>) size += chunk.length
    expect(size).toBe(1_000_000)
    const { stdout } = await sandbox.commands.run('cmp /tmp/streamed /tmp/zipped && echo same')
    expect(stdout).toBe('same\n')
  })

  it('keeps what callers say about a file', async () => {
    await sandbox.files.write('/home/user/tagged', 'x', { metadata: { Origin: 'agent-7' } })
    await expect(sandbox.files.getInfo('tagged')).resolves.toMatchObject({
      metadata: { origin: 'agent-7' },
    })
    await sandbox.files.write('/home/user/tagged', 'y')
    const again = await sandbox.files.getInfo('tagged')
    expect(again.metadata ?? {}).toEqual({})
  })

  it('lists, tells, makes, moves and removes', async () => {
    await expect(sandbox.files.makeDir('box/inner')).resolves.toBe(true)
    await expect(sandbox.files.makeDir('box/inner')).resolves.toBe(false)
    await sandbox.files.write('box/inner/a', '1')
    await sandbox.commands.run('ln -s inner/a box/link; ln -s nowhere box/dangling')
    const listed = await sandbox.files.list('box', { depth: 2 })
    expect(listed.map(({ path, type }) => [path, type])).toEqual([
      ['/home/user/box/inner', 'dir'],
      ['/home/user/box/inner/a', 'file'],
      ['/home/user/box/link', 'file'],
    ])
    await expect(sandbox.files.getInfo('box/link')).resolves.toMatchObject({
      symlinkTarget: '/home/user/box/inner/a',
      owner: 'user',
      permissions: 'Lrwxrwxrwx',
    })
    await sandbox.files.rename('box/inner/a', 'box/moved/b')
    await expect(sandbox.files.exists('box/inner/a')).resolves.toBe(false)
    await expect(sandbox.files.read('box/moved/b')).resolves.toBe('1')
    await sandbox.files.remove('box')
    await expect(sandbox.files.exists('box')).resolves.toBe(false)
  })

  it('says what is not there, what is a directory, and what is neither', async () => {
    await expect(sandbox.files.read('/no/such')).rejects.toBeInstanceOf(FileNotFoundError)
    await expect(sandbox.files.list('/no/such')).rejects.toBeInstanceOf(FileNotFoundError)
    await expect(sandbox.files.read('/usr')).rejects.toMatchObject({ name: 'InvalidArgumentError' })
    await expect(sandbox.files.write('/usr', 'x')).rejects.toMatchObject({
      name: 'InvalidArgumentError',
    })
    await expect(sandbox.files.read('~other/x')).rejects.toMatchObject({
      name: 'InvalidArgumentError',
    })
    await sandbox.commands.run('mkfifo /tmp/fifo')
    await expect(sandbox.files.read('/tmp/fifo')).rejects.toMatchObject({
      name: 'InvalidArgumentError',
    })
  })

  it('tells of changes below a directory, with their entries', async () => {
    await sandbox.files.makeDir('/tmp/watched/sub')
    const events: FilesystemEvent[] = []
    const watch = await sandbox.files.watchDir('/tmp/watched', (event) => void events.push(event), {
      recursive: true,
      includeEntry: true,
    })
    await sandbox.files.write('/tmp/watched/sub/new.txt', 'text')
    const seen = (): string[] => events.map(({ type, name }) => `${type} ${name}`)
    await expect.poll(seen).toContain('create sub/new.txt')
    await expect.poll(seen).toContain('write sub/new.txt')
    const created = events.find(({ type }) => type === 'write')
    expect(created?.entry?.path).toBe('/tmp/watched/sub/new.txt')
    await sandbox.files.remove('/tmp/watched/sub/new.txt')
    await expect.poll(seen).toContain('remove sub/new.txt')
    await watch.stop()
    const { stdout } = await sandbox.commands.run('pgrep -fc "[i]notify_init" || true')
    expect(stdout).toBe('0\n')
  })

  it('refuses to watch what is not there, and a file', async () => {
    const watch = (path: string): Promise<unknown> => sandbox.files.watchDir(path, () => {})
    await expect(watch('/no/such')).rejects.toBeInstanceOf(FileNotFoundError)
    await expect(watch('/etc/passwd')).rejects.toMatchObject({ name: 'InvalidArgumentError' })
  })

  it('gives addresses that work without a key, for a while', async () => {
    const up = await sandbox.uploadUrl('/tmp/by-url', { useSignatureExpiration: 60 })
    const form = new FormData()
    form.append('file', new Blob(['by url']), 'ignored-name')
    expect((await fetch(up, { method: 'POST', body: form })).status).toBe(200)
    const down = await sandbox.downloadUrl('/tmp/by-url')
    await expect((await fetch(down)).text()).resolves.toBe('by url')
    const forged = new URL(down)
    forged.searchParams.set('path', '/etc/passwd')
    expect((await fetch(forged)).status).toBe(401)
    expect((await fetch(down, { method: 'POST', body: form })).status).toBe(401)
    const old = await sandbox.downloadUrl('/tmp/by-url', { useSignatureExpiration: -10 })
    expect((await fetch(old)).status).toBe(401)
  })

  it('sends a part of a file, or says that nothing is new', async () => {
    await sandbox.files.write('/tmp/digits', '0123456789')
    const url = await sandbox.downloadUrl('/tmp/digits')
    const part = await fetch(url, { headers: { range: 'bytes=2-4' } })
    expect([part.status, await part.text()]).toEqual([206, '234'])
    expect(part.headers.get('content-range')).toBe('bytes 2-4/10')
    const tail = await fetch(url, { headers: { range: 'bytes=-3' } })
    await expect(tail.text()).resolves.toBe('789')
    const since = new Date(Date.now() + 60_000).toUTCString()
    expect((await fetch(url, { headers: { 'if-modified-since': since } })).status).toBe(304)
  })

  describe('a link in the sandbox never leads to a file of the host', () => {
    const secret = '/etc/shadow'
    const leadsOut = ['/proc/self/root', '/proc/1/root', '/proc/self/cwd/..', '/dev/fd/../root']

    it('followed by name, by its parents, or through /proc', async () => {
      const onHost = await readFile(secret, 'utf8')
      await sandbox.commands.run(
        `ln -sfn ${secret} link; ln -sfn / up; mkdir -p d; ln -sfn ../../../../../.. d/dots; ` +
          leadsOut.map((path, index) => `ln -sfn ${path} out${index}`).join('; '),
      )
      const paths = [
        'link',
        'up/etc/shadow',
        'd/dots/etc/shadow',
        `../../../../../../..${secret}`,
        ...leadsOut.map((path) => `${path}${secret}`),
        ...leadsOut.map((_, index) => `out${index}${secret}`),
      ]
      for (const path of paths) {
        const content = await sandbox.files.read(path).catch(() => '')
        expect([path, content === onHost]).toEqual([path, false])
      }
    })

    it('when it is swapped in while the server writes', async () => {
      const outside = `${test.data}/outside`
      const swapping = await sandbox.commands.run(
        `mkdir -p race real && while :; do rm -rf race; ln -s ${test.data} race; rm -f race; mkdir race; done`,
        { background: true, timeoutMs: 0 },
      )
      for (let round = 0; round < 60; round++)
        await sandbox.files.write('race/outside', 'escaped').catch(() => {})
      await swapping.kill()
      await expect(readFile(outside)).rejects.toMatchObject({ code: 'ENOENT' })
    })
  })

  it('a sandbox that lies about its files harms itself alone', async () => {
    const liar = await test.e2b.Sandbox.create()
    for (const program of ['/usr/bin/cat', '/usr/bin/yes', '/usr/bin/true']) {
      await liar.commands.run(
        `sudo cp ${program} /tmp/liar && sudo mv /tmp/liar $(readlink -f /usr/bin/python3) && sudo pkill -f '[i]mport errno' || true`,
      )
      await expect(liar.files.read('/etc/hostname')).rejects.toThrow()
      await expect(liar.files.write('x', 'y')).rejects.toThrow()
      await expect(liar.files.write('x', 'y'.repeat(4 << 20))).rejects.toThrow()
      await expect(liar.files.list('/')).rejects.toThrow()
      await expect(liar.files.watchDir('/', () => {})).rejects.toThrow()
    }
    await expect(liar.commands.run('echo alive')).resolves.toMatchObject({ stdout: 'alive\n' })
    await sandbox.files.write('/tmp/honest', 'as before')
    await expect(sandbox.files.read('/tmp/honest')).resolves.toBe('as before')
    await liar.kill()
  })
})
