// A layer while a client works in it: followed, limited, named by itself, put back before a tool
// call.
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { CheckpointInfo, LayerEvent, LayerInfo, LayerStatus, Workspace } from '@cairn/sdk'
import { waitUntil } from '@cairn/server/testing'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn, 'prod')
let workspace: Workspace

beforeEach(async () => {
  workspace = await server.enter()
  await workspace.files.write('/repo/a.txt', 'base\n')
  await workspace.layers.create('/repo', { name: 'try' })
})

const layer = (...words: string[]): Promise<string> => cairn.text('fs', 'layer', ...words)
const write = (name: string, text: string): Promise<unknown> =>
  workspace.layer(name).files.write('/repo/a.txt', text)

describe('watch', () => {
  let watching: ReturnType<typeof cairn.start>

  afterEach(async () => {
    const ended = once(watching, 'exit')
    watching.kill('SIGINT')
    await ended
  })

  /** Lines as they are printed. */
  const watch = (...words: string[]): AsyncIterator<string> => {
    watching = cairn.start(['fs', 'layer', 'watch', 'try', ...words])
    return createInterface({ input: watching.stdout! })[Symbol.asyncIterator]()
  }
  const next = async (lines: AsyncIterator<string>): Promise<string> => {
    const { value, done } = await lines.next()
    if (done === true) throw new Error('it ended')
    return value
  }

  it('its changes, from a point on and as they come, and a warning of a sibling that only wrote', async () => {
    await write('try', 'mine\n')
    await workspace.layers.create('/repo', { name: 'rival' })
    const lines = watch('--after', '0')
    expect(await next(lines)).toMatch(/^1 {2}20\S+ {2}\S+ {2}\S+ \/repo\/a\.txt$/)
    await write('rival', 'rival\n')
    let line = ''
    while (!line.startsWith('also')) line = await next(lines)
    expect(line).toBe('also modified by rival: /repo/a.txt')
  })

  it('--radar prints only the warnings, also with --json', async () => {
    await write('try', 'mine\n')
    const lines = watch('--radar', '--json', '--after', '0')
    await workspace.files.move('/repo', '/project')
    const event = JSON.parse(await next(lines)) as LayerEvent
    expect(event).toMatchObject({
      type: 'radar',
      overlaps: [{ path: '/project', from: '/repo', with: 'main', kind: 'renamed' }],
    })
  })
})

it('quota: set, told, taken away; what would grow beyond is refused', async () => {
  expect(await layer('quota', 'try')).toBe('try: 0 bytes, 0 files\n')
  expect(await layer('quota', 'try', '--max-bytes', '1KiB', '--max-files', '2')).toBe(
    'try: 0 of 1.0k bytes, 0 of 2 files\n',
  )
  const big = await cairn.run(['fs', 'cp', '-', ':/repo/big', '--layer', 'try'], {
    stdin: 'x'.repeat(2000),
  })
  expect(big.stderr).toContain('cannot')
  expect(big.code).not.toBe(0)
  await cairn.text('fs', 'mkdir', ':/repo/one', '--layer', 'try')
  expect(await cairn.json('fs', 'layer', 'quota', 'try', '--max-files', 'none')).toMatchObject([
    { quota: { maxBytes: 1024 }, used: { files: 1 } },
  ])
  await layer('quota', 'try', '--max-bytes', 'none')
  const [free] = await cairn.json<LayerStatus>('fs', 'layer', 'quota', 'try')
  expect(free).not.toHaveProperty('quota')
  expect(await cairn.error('fs', 'layer', 'quota', 'try', '--max-bytes', 'much')).toMatchObject({
    exit: 2,
  })
})

describe('checkpoints', () => {
  const listed = (name: string): Promise<CheckpointInfo[]> =>
    cairn.json<CheckpointInfo>('fs', 'layer', 'checkpoints', name)

  it('--auto-checkpoint: made by itself once nothing changes', async () => {
    await layer('create', ':/repo', '--name', 'auto', '--auto-checkpoint', '100ms')
    await write('auto', 'quiet\n')
    await waitUntil('it is made', async () => (await listed('auto')).length > 0)
    const [made] = await listed('auto')
    expect(made).toMatchObject({ automatic: true })
    const words = ['fs', 'cat', ':/repo/a.txt', '--layer', 'auto', '--at', made!.id]
    expect(await cairn.text(...words)).toBe('quiet\n')
  })

  it('auto-checkpoint: switched on and off for a layer that is there', async () => {
    const auto = (...words: string[]): Promise<string> => layer('auto-checkpoint', 'try', ...words)
    expect(await auto()).toBe('checkpoints of try: none by itself\n')
    expect(await auto('100ms')).toBe('checkpoints of try: by itself after 0.1 s without a change\n')
    expect(await layer('status', 'try')).toMatch(/checkpoints: +by itself after 0.1 s/)
    await write('try', 'one\n')
    await waitUntil('it is made', async () => (await listed('try')).length > 0)
    const [{ id } = { id: '' }] = await cairn.json<LayerInfo>('fs', 'layer', 'list')
    expect(await cairn.json('fs', 'layer', 'auto-checkpoint', 'try', 'none')).toEqual([{ id }])
    expect(await auto()).toBe('checkpoints of try: none by itself\n')
    expect((await listed('try')).length).toBeGreaterThan(0)
    for (const wrong of ['soon', '2d', '1ms'])
      expect(await cairn.error('fs', 'layer', 'auto-checkpoint', 'try', wrong)).toMatchObject({
        exit: 2,
      })
  })

  it('checkpoint --wait is taken, and has what was written before', async () => {
    await write('try', 'before\n')
    const words = ['fs', 'layer', 'checkpoint', 'try', '--wait', '--label', 'point']
    const [{ label, seq } = { label: '', seq: 0 }] = await cairn.json<CheckpointInfo>(...words)
    expect([label, seq]).toEqual(['point', 1])
    await write('try', 'after\n')
    expect(await cairn.text('fs', 'cat', ':/repo/a.txt', '--at', 'point')).toBe('before\n')
  })

  it('rollback --before-tool-call finds the checkpoint of the call, whatever others are called', async () => {
    await write('try', 'good\n')
    await layer('checkpoint', 'try', '--tool-call', 'call_7')
    await write('try', 'done by the call\n')
    await layer('checkpoint', 'try', '--label', 'call_7')
    const rollback = ['rollback', 'try', '--before-tool-call', 'call_7']
    expect(await layer(...rollback)).toBe(
      'rolled try back to before call_7: 1 path changed\ntake it back: cairn fs layer undo try\n',
    )
    const read = ['fs', 'cat', ':/repo/a.txt', '--layer', 'try']
    expect(await cairn.text(...read)).toBe('good\n')
    expect(
      await cairn.error('fs', 'layer', 'rollback', 'try', '--before-tool-call', 'call_8'),
    ).toMatchObject({ code: 'checkpoint_missing', exit: 4 })
  })
})

describe('create --parent', () => {
  it('stands on that layer, or on a point of it, and is committed there', async () => {
    await write('try', 'parent\n')
    await layer('checkpoint', 'try', '--label', 'then')
    await write('try', 'later\n')
    await layer('create', ':/repo', '--name', 'child', '--parent', 'try')
    await layer('create', ':/repo', '--name', 'older', '--parent', 'try', '--at', 'then')
    const read = (name: string): Promise<string> =>
      cairn.text('fs', 'cat', ':/repo/a.txt', '--layer', name)
    expect([await read('child'), await read('older')]).toEqual(['later\n', 'parent\n'])
    await write('child', 'child\n')
    expect(await layer('commit', 'child')).toMatch(/^committed child to ly_\S+ at/)
    expect([await read('try'), await read('main')]).toEqual(['child\n', 'base\n'])
  })

  it('create --parent makes no layer outside of the parent’s path, or on a layer that is not there', async () => {
    const create = (...words: string[]): Promise<{ code: string }> =>
      cairn.error('fs', 'layer', 'create', ...words)
    expect((await create(':/', '--parent', 'try')).code).toBe('outside_layer')
    expect((await create(':/repo', '--parent', 'unknown')).code).toBe('branch_missing')
  })
})
