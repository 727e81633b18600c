import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { FileChange, Sandbox } from '../sandbox.ts'
import type { SandboxSetup } from './sandbox-contract.ts'

/** What holds with and without a workspace. One machine serves them all: they use names of their own. */
export function runBareTests(open: () => Promise<SandboxSetup>): void {
  let setup: SandboxSetup
  let sandbox: Sandbox
  beforeAll(async () => {
    setup = await open()
    sandbox = setup.make()
  })
  afterAll(async () => {
    await sandbox.dispose()
    await setup.close()
  })

  describe('exec', () =>
    runExecTests(
      () => sandbox,
      () => setup.hidesStops === undefined,
    ))
  describe('files', () => runFileTests(() => sandbox))
  describe('glob', () => runGlobTests(() => sandbox))
  describe('watchFiles', () => runWatchTests(() => sandbox))

  it('shows no secret when it is stored or printed', async () => {
    await sandbox.init()
    const shown = [JSON.stringify(sandbox), JSON.stringify({ ...sandbox })].join('\n')
    for (const secret of setup.secrets) expect(shown).not.toContain(secret)
  })

  it('is not mistaken for an instance when it was stored', () => {
    expect({ ...sandbox }).not.toHaveProperty('exec')
  })

  it('is one machine for concurrent callers', async () => {
    const fresh = setup.make()
    try {
      const answers = await Promise.all([fresh.init(), ...ask(fresh, 3)])
      expect(new Set(answers.slice(1)).size).toBe(1)
    } finally {
      await fresh.dispose()
    }
  })

  it('makes no new machine after its end, unless told to', async () => {
    const fresh = setup.make()
    await fresh.exec('touch left-behind')
    await fresh.dispose()
    await fresh.dispose()
    await expect(fresh.exec('true')).rejects.toThrow(/init/)
    await fresh.init()
    try {
      expect(await fresh.exec('ls left-behind')).toMatchObject({ code: 2 })
    } finally {
      await fresh.dispose()
    }
  })
}

function ask(sandbox: Sandbox, times: number): Promise<string>[] {
  return Array.from({ length: times }, async () => (await sandbox.exec('hostname')).stdout)
}

function runExecTests(sandbox: () => Sandbox, tellsStops: () => boolean): void {
  it('gives what a command said and how it ended', async () => {
    expect(await sandbox().exec('echo out; echo err >&2; exit 3')).toEqual({
      code: 3,
      stdout: 'out\n',
      stderr: 'err\n',
    })
    expect(await sandbox().exec('no-such-program')).toMatchObject({ code: 127, stdout: '' })
  })

  it('starts in workDir', async () => {
    const { stdout } = await sandbox().exec('pwd')
    expect(stdout).toBe(`${sandbox().workDir}\n`)
  })

  it('ends what takes too long, and does not take longer itself', async () => {
    const start = performance.now()
    const { code, stopped } = await sandbox().exec('sleep 300', { timeoutMs: 500 })
    expect(code).toBeGreaterThan(0)
    expect(stopped).toBe(tellsStops() ? 'timeout' : undefined)
    expect(performance.now() - start).toBeLessThan(60_000)
    expect(await sandbox().exec('echo alive')).toMatchObject({ stdout: 'alive\n' })
  })

  it('runs several at once', async () => {
    const runs = ['a', 'b', 'c', 'd'].map((word) => sandbox().exec(`echo ${word}`))
    expect((await Promise.all(runs)).map(({ stdout }) => stdout)).toEqual([
      'a\n',
      'b\n',
      'c\n',
      'd\n',
    ])
  })

  it('starts a command without waiting, in any directory, and passes its output on while it comes', async () => {
    const script = 'pwd; echo "$WORD"; read -r line < go; echo "$line"; echo bad >&2; exit 4'
    await sandbox().exec('mkfifo go')
    const started = await sandbox().start(`cd - > /dev/null; ${script}`, {
      cwd: '/tmp',
      env: { WORD: 'given', OLDPWD: sandbox().workDir },
    })
    expect(started.pid).toBeGreaterThan(1)
    const reader = started.stdout.pipeThrough(new TextDecoderStream()).getReader()
    let seen = ''
    while (!seen.endsWith('given\n')) seen += (await reader.read()).value ?? ''
    await sandbox().exec('echo heard > go')
    for (let part = await reader.read(); !part.done; part = await reader.read()) seen += part.value
    expect([seen, await new Response(started.stderr).text(), await started.wait()]).toEqual([
      `${sandbox().workDir}\ngiven\nheard\n`,
      'bad\n',
      4,
    ])
  })

  it('passes on what is written to a started command, and the end of it', async () => {
    const started = await sandbox().start('read -r line; echo "got $line"; wc -c', { stdin: true })
    const input = started.stdin!.getWriter()
    await input.write(new TextEncoder().encode('word\n'))
    await input.write(new TextEncoder().encode('12345'))
    await input.close()
    expect([await new Response(started.stdout).text(), await started.wait()]).toEqual([
      'got word\n5\n',
      0,
    ])
    const closed = await sandbox().start('cat')
    expect([closed.stdin, await closed.wait()]).toEqual([undefined, 0])
  })

  it('ends a started command with what it started', async () => {
    const started = await sandbox().start('sleep 4321 & sleep 4321; true')
    await expect
      .poll(async () => (await sandbox().exec('pgrep -fc "^sleep 4321"')).stdout)
      .toBe('2\n')
    await started.kill()
    await started.kill()
    expect(await started.wait()).toBeGreaterThan(0)
    // A process that has its signal takes a moment to end.
    await expect
      .poll(async () => (await sandbox().exec('pgrep -fc "^sleep 4321"')).stdout)
      .toBe('0\n')
  })

  it('lets commands become root', async () => {
    expect(await sandbox().exec('sudo id -u')).toMatchObject({ code: 0, stdout: '0\n' })
  })

  it('passes large output on whole', async () => {
    const { stdout } = await sandbox().exec('head -c 3000000 /dev/zero | tr "\\0" x')
    expect(stdout.length).toBe(3_000_000)
  })
}

function runFileTests(sandbox: () => Sandbox): void {
  it('come back as they were written, with their parents', async () => {
    await sandbox().fs.write('files/deep/note.md', 'grüße 🪨\n')
    expect(await sandbox().fs.read('files/deep/note.md')).toBe('grüße 🪨\n')
    expect(await sandbox().exec('cat files/deep/note.md')).toMatchObject({ stdout: 'grüße 🪨\n' })
  })

  it('may be bytes', async () => {
    const bytes = Uint8Array.from({ length: 70_000 }, (_, at) => (at * 7) % 256)
    await sandbox().fs.write('files/bytes', bytes)
    expect(Buffer.compare(await sandbox().fs.readBytes('files/bytes'), bytes)).toBe(0)
  })

  it('may be empty, and shorter than before', async () => {
    await sandbox().fs.write('files/long', 'longer')
    await sandbox().fs.write('files/long', '')
    expect(await sandbox().fs.read('files/long')).toBe('')
  })

  it('may have any name', async () => {
    const name = 'files/$(touch hit) `id` "quoted" \'single\' -n *'
    await sandbox().fs.write(name, 'odd')
    expect(await sandbox().fs.read(name)).toBe('odd')
    expect(await sandbox().exec('ls hit files/hit')).toMatchObject({ stdout: '' })
  })

  it('that are missing are an error', async () => {
    await expect(sandbox().fs.read('files/missing')).rejects.toThrow()
    await expect(sandbox().fs.stat('files/missing')).rejects.toThrow()
  })

  it('keep their mtime until they are written', async () => {
    await sandbox().fs.write('files/time', 'one')
    const { mtimeMs } = await sandbox().fs.stat('files/time')
    await sandbox().fs.read('files/time')
    expect((await sandbox().fs.stat('files/time')).mtimeMs).toBe(mtimeMs)
    await sandbox().exec('touch -d 2020-01-02T03:04:05Z files/time')
    expect((await sandbox().fs.stat('files/time')).mtimeMs).toBe(Date.UTC(2020, 0, 2, 3, 4, 5))
  })

  it('have a place for what is temporary', async () => {
    const path = sandbox().fs.temp('scratch.txt')
    await expect(sandbox().fs.read(path)).rejects.toThrow()
    await sandbox().fs.write(path, 'scratch')
    expect(await sandbox().fs.read(path)).toBe('scratch')
    expect(sandbox().fs.temp()).not.toBe(sandbox().fs.temp())
  })

  it('are found from workDir', () => {
    const { fs, workDir } = sandbox()
    expect(fs.resolve('a/b')).toBe(`${workDir}/a/b`)
    expect(fs.resolve('/a/b')).toBe('/a/b')
    expect(fs.isInside('a/b')).toBe(true)
  })
}

function runGlobTests(sandbox: () => Sandbox): void {
  beforeAll(async () => {
    await sandbox().exec(
      'mkdir -p g/src/deep g/.hidden g/node_modules/x && cd g && ' +
        'touch a.ts b.js src/c.ts src/deep/d.ts .hidden/e.ts .f.ts node_modules/x/n.ts && ln -s src/c.ts l.ts',
    )
  })

  const cases: readonly (readonly [pattern: string, expected: readonly string[]])[] = [
    ['g/*.ts', ['g/a.ts', 'g/l.ts']],
    ['g/src/*.ts', ['g/src/c.ts']],
    ['g/src/**/*.ts', ['g/src/c.ts', 'g/src/deep/d.ts']],
    ['g/{a,b}.*', ['g/a.ts', 'g/b.js']],
    ['g/.hidden/*', ['g/.hidden/e.ts']],
    ['g/*', ['g/a.ts', 'g/b.js', 'g/l.ts']],
    ['nothing/*', []],
  ]
  it.each(cases)('%s finds files alone, as a shell would', async (pattern, expected) => {
    expect((await sandbox().fs.glob(pattern)).toSorted()).toEqual(expected)
  })

  it('below a cwd gives paths that can be read', async () => {
    expect(await sandbox().fs.glob('*.ts', { cwd: 'g/src' })).toEqual(['g/src/c.ts'])
    const absolute = await sandbox().fs.glob('*.ts', { cwd: 'g/src', absolute: true })
    expect(absolute).toEqual([`${sandbox().workDir}/g/src/c.ts`])
  })

  it('leaves out what is ignored, and dots unless asked for', async () => {
    const found = await sandbox().fs.glob('**/*.ts', { cwd: 'g', ignore: ['**/node_modules/**'] })
    expect(found.toSorted()).toEqual(['g/a.ts', 'g/l.ts', 'g/src/c.ts', 'g/src/deep/d.ts'])
    const dotted = await sandbox().fs.glob('**/*.ts', { cwd: 'g', dot: true, ignore: ['src/**'] })
    expect(dotted.toSorted()).toEqual([
      'g/.f.ts',
      'g/.hidden/e.ts',
      'g/a.ts',
      'g/l.ts',
      'g/node_modules/x/n.ts',
    ])
  })
}

function runWatchTests(sandbox: () => Sandbox): void {
  it('tells of the files asked for and no others, with their mtime', async () => {
    await sandbox().exec('mkdir -p watch && touch watch/seen watch/unseen')
    const changes: FileChange[] = []
    const id = await sandbox().watchFiles(['watch/seen'], (change) => changes.push(change))
    try {
      await sandbox().exec('echo 1 > watch/unseen; touch -d 2021-01-01T00:00:00Z watch/seen')
      await expect.poll(() => changes.length).toBeGreaterThan(0)
      const path = sandbox().fs.resolve('watch/seen')
      expect(new Set(changes.map((change) => sandbox().fs.resolve(change.path)))).toEqual(
        new Set([path]),
      )
      expect(changes.at(-1)?.mtimeMs).toBe(Date.UTC(2021, 0, 1))
    } finally {
      sandbox().unwatchFiles(id)
      sandbox().unwatchFiles(id)
      sandbox().unwatchFiles('unknown')
    }
  })

  it('rejects for what is not there', async () => {
    await expect(sandbox().watchFiles(['watch/missing'], () => undefined)).rejects.toThrow()
  })
}
