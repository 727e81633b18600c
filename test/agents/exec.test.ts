import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { readdirSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { buffer } from 'node:stream/consumers'
import { beforeAll, describe, expect, it } from 'vitest'
import type { LayerChange } from '@cairn/sdk'
import { useCairn } from '../e2e/run-cairn.ts'
import { noMount } from '../mount/fixture.ts'
import { noJail } from '../sandbox/local-setup.ts'
import { useServer } from '../e2e/use-server.ts'

const cairn = useCairn()
const server = useServer(cairn)

beforeAll(() => server.enter('w'))

interface Receipt {
  readonly layer: string
  readonly exitCode: number
  readonly timedOut: boolean
  readonly place: string
  readonly checkpoint: string
  readonly changes: readonly LayerChange[]
  readonly commit?: object
  readonly discarded: boolean
}

async function exec(
  ...words: string[]
): Promise<Receipt & { code: number | null; stderr: string }> {
  const { code, stdout, stderr } = await cairn.run(['exec', '--json', ...words])
  if (stdout.length === 0) throw new Error(stderr)
  return { ...(JSON.parse(stdout.toString()) as Receipt), code, stderr }
}

/** Options come before the command: what follows it is the command's own. */
async function attempts(...words: string[]): Promise<(Receipt & { name: string })[]> {
  const { stdout } = await cairn.run(['exec', '--json', ...words])
  const lines = stdout.toString().trim().split('\n')
  return lines.map((line) => JSON.parse(line) as Receipt & { name: string })
}

async function refusal(...words: string[]): Promise<string> {
  const { stderr } = await cairn.run(['exec', '--json', ...words])
  return (JSON.parse(stderr) as { error: { code: string } }).error.code
}

async function layerIds(): Promise<string[]> {
  const ids: string[] = []
  for await (const { id } of server.cairn.workspace('w').layers.list()) ids.push(id)
  return ids
}

const shown = ({ changes }: Receipt): string[] =>
  changes.map(({ kind, path, from }) => `${kind} ${from ? `${from} ` : ''}${path}`).sort()

const leftovers = (): string[] =>
  readdirSync(tmpdir()).filter((name) => name.startsWith('cairn-exec-'))

/** The same comes of both. */
const ways = noMount ? (['copy'] as const) : (['mount', 'copy'] as const)

describe.each(ways)('cairn exec in a %s', (place) => {
  const root = `/${place}`
  const given = place === 'copy' ? ['--copy'] : []
  const files = () => server.cairn.workspace('w').files

  it('what a command adds, edits, removes, links and renames is in the layer and not in main', async () => {
    for (const name of ['edited', 'removed', 'same', 'dir/old', 'gone/a', 'gone/b'])
      await files().write(`${root}/${name}`, `${name}\n`)
    await files().write(`${root}/run.sh`, 'true\n', { mode: 0o755 })
    const script =
      'echo more >> edited; rm removed; rm -r gone; mkdir -p new/deep; echo n > new/deep/f; ' +
      'ln -s edited link; mv dir/old dir/moved; chmod 700 same; echo x > gone; test -x run.sh; ' +
      'test -z "$CAIRN_API_KEY"; echo said'
    const receipt = await exec(...given, '--path', root, '--', 'sh', '-ec', script)
    expect(receipt).toMatchObject({ code: 0, exitCode: 0, place, discarded: false })
    expect(receipt.stderr).toContain('said')
    const layer = server.cairn.workspace('w').layer(receipt.layer).files
    const names: string[] = []
    for await (const { path } of layer.walk(root)) names.push(path.slice(root.length))
    expect(names).toEqual([
      '/dir',
      '/dir/moved',
      '/edited',
      '/gone',
      '/link',
      '/new',
      '/new/deep',
      '/new/deep/f',
      '/run.sh',
      '/same',
    ])
    expect(await layer.readText(`${root}/edited`)).toBe('edited\nmore\n')
    expect(await layer.readText(`${root}/link`)).toBe('edited\nmore\n')
    expect((await layer.stat(`${root}/same`)).mode).toBe('0700')
    expect(shown(receipt)).toContain(`modified ${root}/edited`)
    expect(await files().readText(`${root}/edited`)).toBe('edited\n')
    expect(leftovers()).toEqual([])
  })

  it('--commit commits when the command succeeds, and not when it fails', async () => {
    const failed = await exec(
      ...given,
      '--path',
      root,
      '--commit',
      '--',
      'sh',
      '-c',
      'echo 1 > c; exit 3',
    )
    expect(failed).toMatchObject({ code: 3, exitCode: 3 })
    expect(failed.commit).toBeUndefined()
    expect(await files().exists(`${root}/c`)).toBe(false)
    const done = await exec(...given, '--path', root, '--commit', '--', 'sh', '-c', 'echo 1 > c')
    expect(done.commit).toBeDefined()
    expect(await files().readText(`${root}/c`)).toBe('1\n')
  })

  it('a layer that is there is worked in again, and --discard gives it up', async () => {
    const { layer } = await exec(...given, '--path', root, '--', 'sh', '-c', 'echo 1 > again')
    const words = [
      ...given,
      '--layer',
      layer,
      '--discard',
      '--',
      'sh',
      '-c',
      'cat again; echo 2 > second',
    ]
    const receipt = await exec(...words)
    expect(receipt.stderr).toContain('1\n')
    expect(shown(receipt)).toEqual([`added ${root}/again`, `added ${root}/second`])
    const { layers } = server.cairn.workspace('w')
    expect((await layers.status(layer)).state).toBe('abandoned')
  })

  it('a command that takes too long is ended with all that it started; what it wrote stays', async () => {
    const script = 'echo kept > kept; (sleep 600; echo late > late) & sleep 600'
    const words = [...given, '--path', root, '--timeout', '1s', '--', 'sh', '-c', script]
    const receipt = await exec(...words)
    expect(receipt).toMatchObject({ code: 124, exitCode: 124, timedOut: true })
    expect(shown(receipt)).toEqual([`added ${root}/kept`])
  })

  it('Ctrl-C ends the command, keeps what it wrote, and leaves no directory behind', async () => {
    const name = `stopped-${place}`
    const script = 'echo kept > kept; echo ready; sleep 600'
    const words = [...given, '--path', root, '--name', name, '--', 'sh', '-c', script]
    const child = cairn.start(['exec', ...words])
    const stderr = buffer(child.stderr!)
    const ended = once(child, 'exit')
    await once(child.stdout!, 'data')
    child.kill('SIGINT')
    const [code] = (await ended) as [number]
    expect([code, (await stderr).toString()]).toEqual([130, expect.any(String)])
    const { layers } = server.cairn.workspace('w')
    expect((await layers.diff(name)).map(({ path }) => path)).toEqual([`${root}/kept`])
    expect(leftovers()).toEqual([])
  })
})

it.skipIf(noMount)(
  'in a terminal a program may outlive the command: it says what it waits for, and goes on when that has ended',
  async () => {
    const line = [...cairn.words(), 'exec', '--path', '/left', '--', 'sh', '-c']
    const words = [...line, 'sleep 600 & echo begun > file'].map((word) => `'${word}'`).join(' ')
    const { PATH, NODE_COMPILE_CACHE } = process.env
    const child = spawn('script', ['-qec', words, '/dev/null'], {
      env: { HOME: cairn.home(), PATH, NODE_COMPILE_CACHE },
    })
    const ended = once(child, 'exit')
    let said = ''
    let sleeper: string | undefined
    for await (const text of child.stdout.setEncoding('utf8')) {
      said += text
      if (sleeper !== undefined) continue
      sleeper = /left running: sleep \(pid (\d+)\)/.exec(said)?.[1]
      if (sleeper !== undefined) process.kill(Number(sleeper))
    }
    expect((await ended)[0], said).toBe(0)
    expect(said).toMatch(/A +\/left\/file/)
  },
)

it('--attempts runs in layers of their own at once and compares them', async () => {
  const script = 'echo $CAIRN_ATTEMPT > attempt; test $CAIRN_ATTEMPT != 2'
  const words = ['--attempts', '3', '--name', 'tries', '--path', '/tries']
  const lines = await attempts(...words, '--', 'sh', '-c', script)
  expect(lines.map(({ name, exitCode }) => [name, exitCode])).toEqual([
    ['tries-1', 0],
    ['tries-2', 1],
    ['tries-3', 0],
  ])
  const { layers, files } = server.cairn.workspace('w')
  await layers.pick('tries-3')
  expect(await files.readText('/tries/attempt')).toBe('3\n')
})

it('wishes that contradict each other are refused before anything is made', async () => {
  const before = await layerIds()
  for (const words of [
    ['--commit', '--discard'],
    ['--layer', 'x', '--new-layer'],
    ['--attempts', '3', '--commit'],
    ['--env', 'novalue'],
  ])
    expect(await refusal(...words, '--', 'true')).toBe('usage')
  expect(await layerIds()).toEqual(before)
})

it('a program that is not there is told, and leaves nothing behind', async () => {
  const { code, stderr } = await cairn.run(['exec', '--path', '/missing', '--', 'no-such-program'])
  expect([code, stderr]).toEqual([1, expect.stringContaining('cannot run no-such-program')])
  expect(leftovers()).toEqual([])
})

it.skipIf(noJail)('--sandbox local runs in a jail with the layer mounted in it', async () => {
  const script = 'echo from the jail > made; exit 3'
  const receipt = await exec('--sandbox', 'local', '--path', '/jailed', '--', 'sh', '-c', script)
  expect(receipt).toMatchObject({ code: 3, exitCode: 3, place: 'local' })
  expect(shown(receipt)).toContain('added /jailed/made')
})
