// The first commands of a new user: what `cairn serve` makes, `serve --background`, `up`, `status` and `down`.
import { existsSync, mkdirSync, readFileSync } from 'node:fs'
import { readFile, writeFile } from 'node:fs/promises'
import { type AddressInfo, createServer } from 'node:net'
import { join } from 'node:path'
import { markProcess } from '@cairn/mount/beside'
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { useCairn } from './run-cairn.ts'
import { keyFile } from '@cairn/server/testing/key-file'

const cairn = useCairn()
const place = (...names: string[]): string => join(cairn.home(), ...names)

interface Status {
  readonly server?: { readonly url: string; readonly pid: number }
  readonly context?: { readonly name: string; readonly workspace: string }
  readonly mounts: readonly { readonly mountPoint: string; readonly isRunning: boolean }[]
}

const isAlive = (pid: number): boolean => markProcess(pid) !== undefined
const keyOf = (data: string): string => readFileSync(join(data, 'owner-key'), 'utf8').trim()

/** A port that was free a moment ago. */
function freePort(): Promise<number> {
  return new Promise((resolve) => {
    const server = createServer().listen(0, '127.0.0.1', () => {
      const { port } = server.address() as AddressInfo
      server.close(() => resolve(port))
    })
  })
}

/** Everything of one test in a data directory of its own; what the test leaves is ended. */
let data = ''
let listen = ''
let count = 0
beforeEach(async () => {
  data = place(`data-${count++}`)
  listen = `127.0.0.1:${await freePort()}`
})
afterEach(async () => {
  await cairn.run(['down', '--force', '--data', data])
})
const words = (): string[] => ['--data', data, '--listen', listen]

describe('serve --background', () => {
  it('shows what the server warns of when it starts', async () => {
    const [, port = ''] = listen.split(':')
    const words = ['serve', '--background', '--data', data, '--listen', `0.0.0.0:${port}`]
    const { code, stderr } = await cairn.run(words)
    expect([code, stderr]).toEqual([
      0,
      expect.stringMatching(/^warning: keys and files can be read/),
    ])
  })

  it('returns when the server answers, says how to stop it, and starts it only once', async () => {
    const said = await cairn.text('serve', '--background', ...words())
    const [status] = await cairn.json<Status>('status', '--data', data)
    const { url, pid } = status!.server!
    expect(said).toBe(
      `listening on ${url}, data in ${data}\nprocess ${pid}, log in ${data}/server.log\n` +
        `stop it with: cairn down --data ${data}\n`,
    )
    expect((await fetch(`${url}/healthz`)).status).toBe(200)
    expect(await cairn.text('serve', '--background', ...words())).toMatch(/^already listening on /)
    expect(await cairn.text('down', '--data', data)).toBe(
      `stopped the server at ${url}; its data stays in ${data}\n`,
    )
    expect(isAlive(pid)).toBe(false)
    expect(await cairn.text('down', '--data', data)).toBe(`no server is running on ${data}\n`)
  })

  it('at another address than before: the saved context follows it', async () => {
    await cairn.text('serve', '--background', ...words())
    const nameOf = async (): Promise<string | undefined> =>
      (await cairn.json<{ name: string; server: string }>('ctx', 'ls')).find(
        ({ server }) => server === `http://${listen}`,
      )?.name
    const name = await nameOf()
    await cairn.text('down', '--data', data)
    listen = `127.0.0.1:${await freePort()}`
    await cairn.text('serve', '--background', ...words())
    expect(name).toBeDefined()
    expect(await nameOf()).toBe(name)
  })

  it('two at once start one server', async () => {
    const starts = [1, 2].map(() =>
      cairn.json<{ pid: number }>('serve', '--background', ...words()),
    )
    const [[one], [two]] = (await Promise.all(starts)) as [{ pid: number }[], { pid: number }[]]
    expect(one!.pid).toBe(two!.pid)
  })

  it('says what the server said when it cannot start', async () => {
    const taken = createServer().listen(Number(listen.split(':')[1]), '127.0.0.1')
    onTestFinished(() => void taken.close())
    const ran = await cairn.run(['serve', '--background', ...words()])
    expect(ran.code).toBe(1)
    expect(ran.stderr).toContain(
      `it cannot listen on ${listen}: another program uses this address. Stop it`,
    )
    expect(ran.stderr).toContain(join(data, 'server.log'))
  })
})

describe('the first workspace', () => {
  it('the first workspace is what :/ means for the owner, whose context names no workspace', async () => {
    await cairn.text('serve', '--background', ...words())
    const add = ['--server', `http://${listen}`, '--api-key-file', keyFile(keyOf(data))]
    expect(await cairn.text('ctx', 'add', '--name', 'prod', ...add)).toContain(
      'saved context prod for workspace default',
    )
    await cairn.text('ctx', 'use', 'prod')
    await cairn.run(['fs', 'cp', '-', ':/a'], { stdin: 'first' })
    expect(await cairn.text('fs', 'cat', ':/a', ...add)).toBe('first')
    expect(await cairn.text('ws', 'create', 'other')).toBe(
      'made workspace other; use it with: cairn ctx use prod --workspace other\n',
    )
    expect(await cairn.text('fs', 'cat', ':/a')).toBe('first')
  })

  it('the first workspace is made once: without it, and with several others, you are asked for a name', async () => {
    await cairn.text('serve', '--background', ...words())
    const as = ['--server', `http://${listen}`, '--api-key-file', keyFile(keyOf(data))]
    await cairn.text('ws', 'rm', 'default', '--yes', ...as)
    await cairn.text('down', '--data', data)
    await cairn.text('serve', '--background', ...words())
    expect(await cairn.text('ws', 'ls', ...as)).toBe('')
    await cairn.text('ws', 'create', 'one', ...as)
    expect(await cairn.text('fs', 'ls', ':/', ...as)).toBe('')
    await cairn.text('ws', 'create', 'two', ...as)
    expect(await cairn.error('fs', 'ls', ':/', ...as)).toMatchObject({ code: 'not_configured' })
  })

  it.skipIf(noMount)('mounts with the commands of the first documents', async () => {
    await cairn.text('serve', '--background', ...words())
    const server = ['--server', `http://${listen}`, '--api-key-file', keyFile(keyOf(data))]
    await cairn.text('ctx', 'add', '--name', 'dev', ...server)
    await cairn.text('ctx', 'use', 'dev')
    await cairn.text('mount', '--mode=fuse', ':/', place('drive'))
    await writeFile(place('drive/run-42.txt'), 'notes from run 42\n')
    await cairn.text('umount', place('drive'))
    await cairn.text('mount', '--mode=fuse', ':/', place('drive'))
    expect(await readFile(place('drive/run-42.txt'), 'utf8')).toBe('notes from run 42\n')
  })
})

describe.skipIf(noMount)('up', () => {
  it('gives a directory that survives down, and a second up changes nothing', async () => {
    const first = await cairn.text('up', place('work'), ...words())
    expect(first).toBe(
      `${place('work')} is the workspace default of http://${listen}\n` +
        `see how it is: cairn status; end it: cairn down --data ${data}\n`,
    )
    await writeFile(place('work/a'), 'survives')
    expect(await cairn.text('up', place('work'), ...words())).toBe(first)
    const [status] = await cairn.json<Status>('status', '--data', data)
    expect(status).toMatchObject({
      server: { url: `http://${listen}` },
      mounts: [{ mountPoint: place('work'), isRunning: true }],
    })
    expect(await cairn.text('down', '--data', data)).toBe(
      `unmounted ${place('work')}; everything is at the server\n` +
        `stopped the server at http://${listen}; its data stays in ${data}\n`,
    )
    expect(existsSync(place('work/a'))).toBe(false)
    await cairn.text('up', place('work'), ...words())
    expect(await readFile(place('work/a'), 'utf8')).toBe('survives')
  })

  it('after the server was killed, the mount goes on with the next one', async () => {
    await cairn.text('up', place('work'), ...words())
    const [before] = await cairn.json<Status>('status', '--data', data)
    process.kill(before!.server!.pid, 'SIGKILL')
    await expect.poll(() => isAlive(before!.server!.pid)).toBe(false)
    const refused = await cairn.error('down', '--data', data)
    expect(refused).toMatchObject({ code: 'not_drained', exit: 1 })
    await cairn.text('up', place('work'), ...words())
    await writeFile(place('work/b'), 'later')
    await cairn.text('down', '--data', data)
    await cairn.text('up', place('work'), ...words())
    expect(await readFile(place('work/b'), 'utf8')).toBe('later')
  })

  it('goes on after the key default was rotated and the workspace renamed, with what the context has', async () => {
    const up = ['up', place('work'), ...words()]
    await cairn.text(...up)
    const server = `http://${listen}`
    const first = ['--server', server, '--api-key-file', join(data, 'owner-key')]
    await cairn.text('key', 'rotate', 'default', '--out', place('new.key'), ...first)
    expect(await cairn.error(...up)).toMatchObject({ code: 'not_configured' })
    const [status] = await cairn.json<Status>('status', '--data', data)
    const { name } = status!.context!
    const add = ['--name', name, '--server', server, '--api-key-file', place('new.key')]
    await cairn.text('ctx', 'add', ...add, '-w', 'default')
    await cairn.text('ws', 'rename', 'default', 'shop', '--context', name)
    expect(await cairn.text(...up)).toContain(
      `${place('work')} is the workspace shop of ${server}\n`,
    )
    const names = (await cairn.text('ws', 'ls', '--context', name)).trim().split('\n')
    expect(names).toEqual(['shop'])
  })

  it('what cannot be mounted leaves no server behind', async () => {
    await writeFile(place('file'), '')
    const { code } = await cairn.error('up', place('file'), ...words())
    expect(code).toBe('mount_failed')
    const [status] = await cairn.json<Status>('status', '--data', data)
    expect(status).not.toHaveProperty('server')
  })

  it('Ctrl-C while it starts ends the server that it started', async () => {
    const child = cairn.start(['up', place('work'), ...words()])
    const ended = new Promise((resolve) => child.on('close', resolve))
    await expect.poll(() => existsSync(join(data, 'server.log'))).toBe(true)
    child.kill('SIGINT')
    expect(await ended).toBe(130)
    const [status] = await cairn.json<Status>('status', '--data', data)
    expect(status).not.toHaveProperty('server')
    expect(status).toMatchObject({ mounts: [] })
  })
})

describe.skipIf(noMount)('what a mount makes and hides', () => {
  const mount = async (path: string, directory: string): Promise<string> =>
    (await cairn.run(['mount', '--context', await contextName(), path, place(directory)])).stderr

  /** Servers of earlier tests have taken the name `local`. */
  async function contextName(): Promise<string> {
    const contexts = await cairn.json<{ name: string; server: string }>('ctx', 'ls')
    return contexts.find(({ server }) => server === `http://${listen}`)!.name
  }

  it('a remote directory that was not there is told of: it may be a slip', async () => {
    await cairn.text('serve', '--background', ...words())
    expect(await mount(':/typo/deep', 'made')).toBe(
      'made the directory :/typo/deep in workspace default\n',
    )
    await cairn.text('umount', place('made'))
    expect(await mount(':/typo/deep', 'made')).toBe('')
  })

  it('what is in the local directory is named, and is there again afterwards', async () => {
    await cairn.text('serve', '--background', ...words())
    mkdirSync(place('full'))
    for (const name of 'abcdefg') await writeFile(place('full', name), name)
    expect(await mount(':/', 'full')).toBe(
      `note: until you unmount, this hides what is in ${place('full')}: a, b, c, d, e and 2 more\n`,
    )
    await cairn.text('umount', place('full'))
    expect(readFileSync(place('full/a'), 'utf8')).toBe('a')
  })
})
