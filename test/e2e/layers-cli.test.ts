// Parallel attempts as people type them, against a real server.
import { execFileSync } from 'node:child_process'
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type {
  CheckpointInfo,
  CommitReceipt,
  LayerChange,
  LayerConflict,
  LayerInfo,
  LayerStatus,
  LogEntry,
  PickReceipt,
  RefusedMerge,
  Workspace,
} from '@cairn/sdk'
import { beforeEach, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

const cairn = useCairn()
const server = useServer(cairn, 'prod')
let workspace: Workspace

beforeEach(async () => {
  workspace = await server.enter()
  await workspace.files.write('/repo/src/auth.ts', 'one\ntwo\nthree\n')
  await workspace.files.write('/repo/README.md', 'hello\n')
})

const layer = (...words: string[]): Promise<string> => cairn.text('fs', 'layer', ...words)

const write = async (reference: string, path: string, text: string): Promise<void> => {
  const { code, stderr } = await cairn.run(['fs', 'cp', '-', `:${path}`, '--layer', reference], {
    stdin: text,
  })
  if (code !== 0) throw new Error(stderr)
}

const twoAttempts = async (): Promise<void> => {
  await layer('create', ':/repo', '--name', 'fix-auth-a', '--tag', 'agent=a')
  await layer('create', ':/repo', '--name', 'fix-auth-b', '--tag', 'agent=b')
  await write('fix-auth-a', '/repo/src/auth.ts', 'one\ntwo\nTHREE of a\n')
  await write('fix-auth-b', '/repo/src/auth.ts', 'one\ntwo\nTHREE of b\n')
}

describe('two attempts at one bug', () => {
  it('the first commit moves the base; the second is told every path, why, and what to type', async () => {
    await twoAttempts()
    expect(await layer('checkpoint', 'fix-auth-a', '--label', 'tests-pass')).toContain(
      'made checkpoint tests-pass',
    )
    expect(await layer('commit', 'fix-auth-a', '-m', 'tokens expire')).toMatch(
      /^committed fix-auth-a to main at \d+: 1 path, [0-9a-f]{16} -> [0-9a-f]{16}\n {2}M {2}\/repo\/src\/auth.ts\n/,
    )
    expect(await cairn.text('fs', 'cat', ':/repo/src/auth.ts')).toBe('one\ntwo\nTHREE of a\n')

    const refused = await cairn.run(['fs', 'layer', 'commit', 'fix-auth-b'])
    expect(refused.code).toBe(9)
    expect(refused.stderr).toContain('conflict: /repo/src/auth.ts: edit/edit: both changed')
    expect(refused.stderr).toContain(
      'cairn fs layer resolve fix-auth-b /repo/src/auth.ts --ours | --theirs | --with FILE',
    )
    expect(refused.stderr).toContain('cairn fs layer rebase fix-auth-b')
    expect(refused.stderr).toContain('cairn fs layer commit fix-auth-b')
    expect(await cairn.text('fs', 'cat', ':/repo/src/auth.ts')).toBe('one\ntwo\nTHREE of a\n')

    const [status] = await cairn.json<LayerStatus>('fs', 'layer', 'status', 'fix-auth-b')
    expect(status).toMatchObject({
      state: 'conflicted',
      behind: true,
      conflicts: [{ path: '/repo/src/auth.ts', kind: 'edit/edit' }],
      overlaps: [{ path: '/repo/src/auth.ts', with: 'main', kind: 'modified' }],
    })
    for (const [side, text] of [
      ['base', 'three'],
      ['layer', 'THREE of b'],
      ['target', 'THREE of a'],
    ] as const)
      expect(
        await cairn.text(
          'fs',
          'cat',
          ':/repo/src/auth.ts',
          '--layer',
          'fix-auth-b',
          '--side',
          side,
        ),
      ).toBe(`one\ntwo\n${text}\n`)

    const merged = join(cairn.home(), 'auth.ts')
    writeFileSync(merged, 'one\ntwo\nTHREE of a and b\n')
    expect(await layer('resolve', 'fix-auth-b', 'src/auth.ts', '--with', merged)).toBe(
      'decided /repo/src/auth.ts (edit/edit)\nnext: cairn fs layer rebase fix-auth-b, or cairn fs layer commit fix-auth-b\n',
    )
    await layer('rebase', 'fix-auth-b')
    await layer('commit', 'fix-auth-b')
    expect(await cairn.text('fs', 'cat', ':/repo/src/auth.ts')).toBe('one\ntwo\nTHREE of a and b\n')
  })

  it.each([
    ['--ours', 'THREE of b'],
    ['--theirs', 'THREE of a'],
  ])('resolve %s', async (choice, text) => {
    await twoAttempts()
    await layer('commit', 'fix-auth-a')
    const error = await cairn.error('fs', 'layer', 'commit', 'fix-auth-b')
    expect(error).toMatchObject({ code: 'layer_conflict', exit: 9 })
    expect((error as unknown as { conflicts: LayerConflict[] }).conflicts).toMatchObject([
      { path: '/repo/src/auth.ts', base: { path: '/repo/src/auth.ts', kind: 'file' } },
    ])
    const { refused } = error as unknown as { refused: RefusedMerge }
    const [status] = await cairn.json<LayerStatus>('fs', 'layer', 'status', 'fix-auth-b')
    expect([refused.base, refused.layer]).toEqual([status?.base.root, status?.head.root])
    await layer('resolve', 'fix-auth-b', 'src/auth.ts', choice)
    expect(await layer('commit', 'fix-auth-b')).toMatch(
      /\ndecided \/repo\/src\/auth.ts \(edit\/edit\): (the layer's|what was there)\n$/,
    )
    expect(await cairn.text('fs', 'cat', ':/repo/src/auth.ts')).toBe(`one\ntwo\n${text}\n`)
  })

  it('lines in different places are merged if asked for, and a dry run changes nothing', async () => {
    await layer('create', ':/repo', '--name', 'a')
    await layer('create', ':/repo', '--name', 'b')
    await write('a', '/repo/src/auth.ts', 'ONE\ntwo\nthree\n')
    await write('b', '/repo/src/auth.ts', 'one\ntwo\nTHREE\n')
    await layer('commit', 'a')
    const dry = await cairn.run(['fs', 'layer', 'commit', 'b', '--dry-run'])
    expect(dry.code).toBe(9)
    const [open] = await cairn.json<LayerStatus>('fs', 'layer', 'status', 'b')
    expect(open?.state).toBe('open')
    expect(await layer('commit', 'b', '--merge', '--dry-run')).toMatch(/^would commit b to main: 1/)
    expect(await cairn.text('fs', 'cat', ':/repo/src/auth.ts')).toBe('ONE\ntwo\nthree\n')
    await layer('commit', 'b', '--merge')
    expect(await cairn.text('fs', 'cat', ':/repo/src/auth.ts')).toBe('ONE\ntwo\nTHREE\n')
  })

  it('the base is frozen: a sibling that commits changes nothing under an attempt', async () => {
    await twoAttempts()
    await write('fix-auth-a', '/repo/README.md', 'changed by a\n')
    await layer('commit', 'fix-auth-a')
    const read = (): Promise<string> =>
      cairn.text('fs', 'cat', ':/repo/README.md', '--layer', 'fix-auth-b')
    expect(await read()).toBe('hello\n')
    await layer('resolve', 'fix-auth-b', 'src/auth.ts', '--ours')
    await layer('rebase', 'fix-auth-b')
    expect(await read()).toBe('changed by a\n')
  })

  it('pick commits one and abandons the others, which can come back', async () => {
    await twoAttempts()
    const [picked] = await cairn.json<PickReceipt>('fs', 'layer', 'pick', 'agent=a')
    expect(picked?.abandoned.length).toBe(1)
    const list = await cairn.json<LayerInfo>('fs', 'layer', 'list')
    expect(list.map(({ name, state }) => [name, state])).toEqual([
      ['fix-auth-a', 'committed'],
      ['fix-auth-b', 'abandoned'],
    ])
    expect(await cairn.error('fs', 'mkdir', ':/repo/new', '--layer', 'fix-auth-b')).toMatchObject({
      code: 'layer_closed',
      exit: 16,
    })
    await layer('reopen', 'fix-auth-b')
    await layer('status', 'fix-auth-b')
    await write('fix-auth-b', '/repo/more.txt', 'x')
  })

  it('the same key commits once and gives the same receipt', async () => {
    await twoAttempts()
    const commit = (): Promise<CommitReceipt[]> =>
      cairn.json('fs', 'layer', 'commit', 'fix-auth-a', '--idempotency-key', 'k1')
    const [first] = await commit()
    expect(await commit()).toEqual([first])
    const log = await cairn.json<LogEntry>('fs', 'log')
    expect(
      log.filter(({ operations }) => operations.some(({ op }) => op.startsWith('commit'))).length,
    ).toBe(1)
  })
})

describe('points of a layer', () => {
  const content = (...words: string[]): Promise<string> =>
    cairn.text('fs', 'cat', ':/repo/README.md', '--layer', 'try', ...words)

  beforeEach(() => layer('create', ':/repo', '--name', 'try'))

  it('checkpoints, rollback, undo and --at', async () => {
    await write('try', '/repo/README.md', 'good\n')
    await layer('checkpoint', 'try', '--label', 'good')
    const made = await layer('checkpoint', 'try', '--tool-call', 'call_7')
    expect(made).toContain('back to it: cairn fs layer rollback try --to call_7')
    await write('try', '/repo/README.md', 'bad\n')
    await write('try', '/repo/node_modules/x.js', 'untracked\n')
    expect(await content('--at', 'good')).toBe('good\n')
    expect(await cairn.text('fs', 'ls', ':/repo', '--layer', 'try', '--at', 'call_7')).toBe(
      'README.md\nsrc/\n',
    )
    expect(
      await cairn.error('fs', 'mkdir', ':/repo/no', '--layer', 'try', '--at', 'good'),
    ).toMatchObject({ code: 'read_only', exit: 8 })

    expect(await layer('rollback', 'try', '--to', 'call_7')).toContain('cairn fs layer undo try')
    expect(await content()).toBe('good\n')
    expect(await cairn.text('fs', 'ls', ':/repo', '--layer', 'try')).toBe('README.md\nsrc/\n')
    await layer('undo', 'try')
    expect(await content()).toBe('bad\n')
    expect(await cairn.text('fs', 'cat', ':/repo/node_modules/x.js', '--layer', 'try')).toBe(
      'untracked\n',
    )
    expect(await cairn.error('fs', 'layer', 'undo', 'try')).toMatchObject({
      code: 'nothing_to_undo',
    })
    await layer('rollback', 'try')
    expect(await content()).toBe('hello\n')

    const listed = await cairn.json<CheckpointInfo>('fs', 'layer', 'checkpoints', 'try')
    const asked = listed.filter(({ automatic }) => automatic !== true)
    expect(asked.map(({ label, toolCall }) => [label, toolCall])).toEqual([
      ['good', undefined],
      ['', 'call_7'],
    ])
    await layer('checkpoints', 'try', '--delete', 'good')
    expect(await cairn.error('fs', 'layer', 'rollback', 'try', '--to', 'good')).toMatchObject({
      code: 'checkpoint_missing',
      exit: 4,
    })
  })

  it('a checkpoint is committed as it was; what came later stays in the layer', async () => {
    await write('try', '/repo/README.md', 'good\n')
    await layer('checkpoint', 'try', '--label', 'good')
    await write('try', '/repo/README.md', 'later\n')
    await layer('commit', 'try', '--checkpoint', 'good')
    expect(await cairn.text('fs', 'cat', ':/repo/README.md')).toBe('good\n')
    expect(await content()).toBe('later\n')
    await layer('commit', 'try')
    expect(await cairn.text('fs', 'cat', ':/repo/README.md')).toBe('later\n')
  })

  it('diff: a list, lines, JSON, and a patch that git applies, between any two points', async () => {
    await write('try', '/repo/src/auth.ts', 'one\n2\nthree\n')
    await layer('checkpoint', 'try', '--label', 'half')
    await cairn.text('fs', 'mv', ':/repo/README.md', ':/repo/READ.md', '--layer', 'try')
    await write('try', '/repo/new file.txt', 'new\n')
    expect(await layer('diff', 'try')).toBe(
      'R  /repo/README.md -> /repo/READ.md\nA  /repo/new file.txt\nM  /repo/src/auth.ts\n',
    )
    expect(await layer('diff', 'try', '--to', 'half', '--stat')).toBe(
      'M  /repo/src/auth.ts  +1 -1\n',
    )
    expect(await layer('diff', 'try', '--from', 'half', '--path', ':/repo/new file.txt')).toBe(
      'A  /repo/new file.txt\n',
    )
    const [back] = await cairn.json<LayerChange>(
      'fs',
      'layer',
      'diff',
      'try',
      '--from',
      'half',
      '--to',
      'main',
    )
    expect(back).toMatchObject({ kind: 'modified', path: '/repo/src/auth.ts' })

    const directory = join(cairn.home(), `patched-${workspace.name}`)
    mkdirSync(join(directory, 'repo/src'), { recursive: true })
    writeFileSync(join(directory, 'repo/src/auth.ts'), 'one\ntwo\nthree\n')
    writeFileSync(join(directory, 'repo/README.md'), 'hello\n')
    const patch = await layer('diff', 'try', '--patch')
    execFileSync('git', ['apply', '-'], { cwd: directory, input: patch })
    expect(readFileSync(join(directory, 'repo/src/auth.ts'), 'utf8')).toBe('one\n2\nthree\n')
    expect(readFileSync(join(directory, 'repo/READ.md'), 'utf8')).toBe('hello\n')
    expect(readFileSync(join(directory, 'repo/new file.txt'), 'utf8')).toBe('new\n')
  })

  it('log tells every change, rollback and state', async () => {
    await write('try', '/repo/README.md', 'x\n')
    await layer('rollback', 'try')
    await layer('abandon', 'try')
    const log = await layer('log', 'try')
    expect(log).toMatch(/ write \/repo\/README.md\n[^]* rollback [^]* abandoned/)
  })
})

describe('which layer', () => {
  it('by id, name, tag or label; several are listed, none is told', async () => {
    await twoAttempts()
    await layer('tag', 'fix-auth-a', 'task=auth')
    await layer('tag', 'fix-auth-b', 'task=auth')
    await layer('checkpoint', 'fix-auth-a', '--label', 'only-a')
    const [a] = await cairn.json<LayerInfo>('fs', 'layer', 'list', '--tag', 'agent=a')
    for (const reference of [a!.id, 'fix-auth-a', 'agent=a', 'only-a'])
      expect(await cairn.json('fs', 'layer', 'status', reference)).toMatchObject([{ id: a!.id }])
    const error = await cairn.error('fs', 'layer', 'commit', 'task=auth')
    expect(error).toMatchObject({ code: 'reference_ambiguous' })
    const { candidates } = error as unknown as { candidates: string[] }
    expect(candidates.join()).toMatch(/fix-auth-a.*fix-auth-b/)
    expect(await cairn.error('fs', 'ls', ':/', '--layer', 'nothing')).toMatchObject({
      code: 'branch_missing',
      exit: 4,
    })
  })

  it('a name that is taken, renaming, tags, deleting', async () => {
    await twoAttempts()
    const create = ['fs', 'layer', 'create', ':/repo', '--name', 'fix-auth-a']
    expect(await cairn.error(...create)).toMatchObject({ code: 'branch_exists', exit: 5 })
    await layer('rename', 'fix-auth-a', 'better')
    expect(await cairn.text('fs', 'cat', ':/repo/src/auth.ts', '--layer', 'better')).toContain(
      'of a',
    )
    expect(await layer('tag', 'better', 'x=1', '--remove', 'agent')).toBe('tags of better: x=1\n')
    await layer('fork', 'better', '--name', 'child')
    expect(await layer('chain', 'child')).toMatch(/^main\n {2}better .*\n {4}child /)
    expect(await cairn.error('fs', 'layer', 'delete', 'better')).toMatchObject({
      code: 'layer_in_use',
    })
    await layer('delete', 'better', '--cascade')
    expect((await cairn.json('fs', 'layer', 'ls')).length).toBe(1)
  })

  it('writes stay at the path of the layer, everything can be read', async () => {
    await workspace.files.write('/other/x', 'x')
    await layer('create', ':/repo', '--name', 'try')
    for (const words of [
      ['mkdir', ':/elsewhere'],
      ['rm', ':/other/x'],
      ['mv', ':/repo/README.md', ':/other/y'],
      ['hardlink', ':/other/x', ':/other/z'],
      ['chmod', '600', ':/other/x'],
    ])
      expect([words, await cairn.error('fs', ...words, '--layer', 'try')]).toMatchObject([
        words,
        { code: 'outside_layer', exit: 8 },
      ])
    expect(await cairn.text('fs', 'cat', ':/other/x', '--layer', 'try')).toBe('x')
  })

  it('a layer of a directory that is still to be made', async () => {
    await layer('create', ':/new/place', '--name', 'try')
    await write('try', '/new/place/a.txt', 'x')
    expect(await cairn.error('fs', 'mkdir', ':/new/other', '--layer', 'try')).toMatchObject({
      code: 'outside_layer',
    })
    await layer('commit', 'try')
    expect(await cairn.text('fs', 'ls', ':/new/place')).toBe('a.txt\n')
  })

  it('every fs command works on a layer as on main', async () => {
    await layer('create', ':/repo', '--name', 'try')
    const on = (...words: string[]): Promise<string> => cairn.text('fs', ...words, '--layer', 'try')
    await on('mkdir', ':/repo/a/b')
    await on('cp', ':/repo/README.md', ':/repo/a/copy.md')
    await on('cp', '-r', ':/repo/src', ':/repo/a/src')
    await on('mv', ':/repo/a/copy.md', ':/repo/a/b/moved.md')
    await on('symlink', 'b/moved.md', ':/repo/a/link')
    await on('hardlink', ':/repo/a/b/moved.md', ':/repo/a/hard')
    await on('chmod', '600', ':/repo/a/hard')
    expect(await on('stat', ':/repo/a/b/moved.md')).toContain('0600')
    expect(await on('ls', ':/repo/a')).toBe('b/\nhard\nlink\nsrc/\n')
    expect(await on('find', ':/repo/a', '-name', '*.ts')).toBe('/repo/a/src/auth.ts\n')
    expect(await on('log', ':/repo/a/b/moved.md')).toContain('moved.md')
    await on('rm', '-r', ':/repo/a')
    expect(await on('ls', ':/repo')).toBe('README.md\nsrc/\n')
    expect(await layer('diff', 'try')).toBe('')
  })
})

describe('ctx fork', () => {
  it('a workspace of its own, from now or from a checkpoint of a layer', async () => {
    await twoAttempts()
    await layer('checkpoint', 'fix-auth-a', '--label', 'then')
    await write('fix-auth-a', '/repo/src/auth.ts', 'later')
    const name = `experiment-${workspace.name}`
    expect(await cairn.text('ctx', 'fork', name, '--from', 'prod')).toBe(
      `made workspace ${name} from ${workspace.name}, and the context ${name}\nnext: cairn ctx use ${name}\n`,
    )
    await cairn.text('fs', 'rm', '-r', `${name}:/repo/src`)
    expect(await cairn.text('fs', 'ls', `${name}:/repo`)).toBe('README.md\n')
    expect(await cairn.text('fs', 'ls', ':/repo')).toBe('README.md\nsrc/\n')
    await cairn.text('ctx', 'fork', `${name}-a`, '--layer', 'fix-auth-a', '--at', 'then')
    expect(await cairn.text('fs', 'cat', `${name}-a:/repo/src/auth.ts`)).toContain('THREE of a')
    await cairn.text('ctx', 'fork', `${name}-b`, '--from', `${name}-a`)
    expect(await cairn.text('fs', 'cat', `${name}-b:/repo/src/auth.ts`)).toContain('THREE of a')
    expect(await cairn.error('ctx', 'fork', name, '--from', 'prod')).toMatchObject({
      code: 'workspace_exists',
      exit: 5,
    })
    expect(await cairn.error('ctx', 'fork', 'another', '--from', 'nothing')).toMatchObject({
      code: 'workspace_missing',
    })
  })

  it('from a workspace of the current context, by its name', async () => {
    const name = `named-${workspace.name}`
    await cairn.text('ctx', 'fork', name, '--from', workspace.name)
    expect(await cairn.text('fs', 'ls', `${name}:/`)).toBe(await cairn.text('fs', 'ls', ':/'))
  })
})
