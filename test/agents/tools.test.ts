import { describe, expect, it } from 'vitest'
import { useAgentSite } from './site.ts'

const { server, run, data, failure } = useAgentSite()

interface Read {
  readonly content: string
  readonly version: string
  readonly next_offset?: number
}

describe('read and write', () => {
  it('a file that was written reads with numbered lines', async () => {
    await data('write', { file_path: 'src/a.ts', content: 'one\ntwo\n' })
    const { content, next_offset } = await data<Read>('read', { file_path: '/src/a.ts' })
    expect(content).toBe('     1\tone\n     2\ttwo')
    expect(next_offset).toBeUndefined()
  })

  it('a long file is read in parts, and each says where the next one begins', async () => {
    const content = Array.from({ length: 2500 }, (_, n) => `line ${n + 1}`).join('\n')
    await data('write', { file_path: '/long', content })
    const first = await run('read', { file_path: '/long' })
    expect(first.text).toMatch(/offset 2001\.\]$/)
    const rest = await data<Read>('read', { file_path: '/long', offset: 2001 })
    expect(rest.content).toMatch(/^ {2}2001\tline 2001\n/)
    expect(rest.content).toMatch(/line 2500$/)
  })

  it('an answer stays below its bound even where each line is long', async () => {
    await data('write', { file_path: '/wide', content: `${'x'.repeat(100_000)}\n`.repeat(50) })
    const { text } = await run('read', { file_path: '/wide' })
    expect(text.length).toBeLessThan(80_000)
    expect(text).toMatch(/offset \d+\.\]$/)
  })

  it('a write with an old version fails and says to read again', async () => {
    await data('write', { file_path: '/v', content: '1' })
    const { version } = await data<Read>('read', { file_path: '/v' })
    await data('write', { file_path: '/v', content: '2' })
    const wish = { file_path: '/v', content: '3', expected_version: version }
    expect(await failure('write', wish)).toMatch(/read it again/)
    expect(await failure('write', { ...wish, expected_version: 'absent' })).toMatch(/read it again/)
  })

  it('a missing file, a directory and bytes name the next step in one line', async () => {
    await server()
      .cairn.workspace('w')
      .files.write('/bytes', new Uint8Array([1, 0, 2]))
    for (const [path, next] of [
      ['/missing', /ls or glob/],
      ['/src', /List it with ls/],
      ['/bytes', /not text/],
      ['/../etc/passwd', /without "\.\."/],
    ] as const) {
      const text = await failure('read', { file_path: path })
      expect(text).toMatch(next)
      expect(text).not.toContain('\n')
    }
  })
})

describe('edit', () => {
  it('replaces the only match, keeps the mode, and shows the lines around', async () => {
    const { files } = server().cairn.workspace('w')
    await files.write('/run.sh', 'a\nb\nc\n', { mode: 0o755 })
    const edit = { file_path: '/run.sh', old_string: 'b', new_string: 'B' }
    const { content } = await data<Read>('edit', edit)
    expect(content).toContain('     2\tB')
    expect((await files.stat('/run.sh')).mode).toBe('0755')
  })

  it('several matches are counted with their lines, and nothing changes', async () => {
    await data('write', { file_path: '/m', content: 'x\ny\nx\n' })
    const text = await failure('edit', { file_path: '/m', old_string: 'x', new_string: 'z' })
    expect(text).toMatch(/2 matches, at lines 1, 3\. .*replace_all/)
    const all = { file_path: '/m', old_string: 'x', new_string: 'z', replace_all: true }
    expect(await data('edit', all)).toMatchObject({ replacements: 2 })
  })

  it('text that is missing reports the nearest lines', async () => {
    const content = 'function a() {\n    return compute(1)\n}\n'
    await data('write', { file_path: '/n', content })
    const edit = { file_path: '/n', old_string: 'return compute( 1 );', new_string: 'q' }
    expect(await failure('edit', edit)).toMatch(/0 matches; .*2\\t {4}return compute\(1\)/)
  })

  it('a file with \\r\\n is edited with \\n and keeps its line ends', async () => {
    await data('write', { file_path: '/crlf', content: 'a\r\nb\r\nc\r\n' })
    await data('edit', { file_path: '/crlf', old_string: 'a\nb', new_string: 'a\nB' })
    expect(await server().cairn.workspace('w').files.readText('/crlf')).toBe('a\r\nB\r\nc\r\n')
  })

  it('multi_edit makes all of its edits or none', async () => {
    await data('write', { file_path: '/all', content: 'a b' })
    const edits = [
      { old_string: 'a', new_string: '1' },
      { old_string: 'absent', new_string: '2' },
    ]
    await failure('multi_edit', { file_path: '/all', edits })
    expect(await server().cairn.workspace('w').files.readText('/all')).toBe('a b')
    edits[1] = { old_string: '1 b', new_string: 'done' }
    await data('multi_edit', { file_path: '/all', edits })
    expect(await server().cairn.workspace('w').files.readText('/all')).toBe('done')
  })
})

describe('finding', () => {
  it('ls gives pages that together have every entry once', async () => {
    for (const name of ['a', 'b', 'c'])
      await data('write', { file_path: `/d/${name}`, content: '' })
    const seen: string[] = []
    let cursor: string | undefined
    do {
      const page = await data<{ entries: { path: string }[]; next?: string }>('ls', {
        path: 'd',
        limit: 2,
        cursor,
      })
      seen.push(...page.entries.map(({ path }) => path))
      cursor = page.next
    } while (cursor !== undefined)
    expect(seen).toEqual(['/d/a', '/d/b', '/d/c'])
  })

  it('glob gives the newest first and goes on with its cursor', async () => {
    for (const name of ['1', '2', '3'])
      await data('write', { file_path: `/g/x${name}`, content: '' })
    const page = await data<{ paths: string[]; next: string }>('glob', {
      pattern: 'g/x*',
      limit: 2,
    })
    expect(page.paths).toEqual(['/g/x3', '/g/x2'])
    const rest = { pattern: 'g/x*', limit: 2, cursor: page.next }
    expect(await data('glob', rest)).toEqual({ paths: ['/g/x1'], total: 3 })
  })
})

describe('history', () => {
  it('an attempt is written in, compared, rolled back and committed', async () => {
    const layer = 'try'
    await data('write', { file_path: '/h/a', content: 'one\n' })
    await data('attempt_create', { name: layer, path: '/h' })
    await data('edit', { file_path: '/h/a', old_string: 'one', new_string: 'two', layer })
    await data('checkpoint', { label: 'good', layer })
    await data('write', { file_path: '/h/b', content: 'wrong', layer })
    expect(await data('rollback', { layer, to: 'good', dry_run: true })).toMatchObject({ total: 1 })
    await data('rollback', { layer, to: 'good' })
    const { text } = await run('diff', { layer })
    expect(text).toContain('-one\n+two')
    expect(await data('attempt_compare', { attempts: [layer] })).toMatchObject({
      attempts: [{ total: 1, conflicts: [] }],
    })
    await data('attempt_commit', { attempt: layer, message: 'two' })
    expect((await run('read', { file_path: '/h/a' })).text).toContain('two')
    expect((await run('attempt_list', { state: 'committed' })).text).toContain(layer)
  })

  it('two attempts that conflict: the second commit names the path and the next step', async () => {
    await data('write', { file_path: '/c/a', content: 'one\n' })
    for (const name of ['left', 'right']) {
      await data('attempt_create', { name, path: '/c' })
      await data('write', { file_path: '/c/a', content: `${name}\n`, layer: name })
    }
    await data('attempt_commit', { attempt: 'left' })
    const text = await failure('attempt_commit', { attempt: 'right' })
    expect(text).toMatch(/\/c\/a \(.+\)\]\. .*discard/)
    await data('attempt_discard', { attempt: 'right' })
  })

  it('the log names the tool call, and goes on with its cursor', async () => {
    const { url, apiKey } = server()
    const { Cairn } = await import('@cairn/sdk')
    const cairn = new Cairn({ server: url, apiKey, toolCall: 'call-7' })
    for (const content of ['1', '2', '3'])
      await data('write', { file_path: '/l', content }, { cairn })
    const page = await data<{ entries: { seq: number; tool_call: string }[]; next: string }>(
      'log',
      {
        path: '/l',
        limit: 2,
      },
    )
    expect(page.entries.map(({ tool_call }) => tool_call)).toEqual(['call-7', 'call-7'])
    const older = await data<typeof page>('log', { path: '/l', cursor: page.next })
    expect(older.entries.map(({ seq }) => seq)).toEqual([page.entries[1]!.seq - 1])
  })

  it('the list of tasks is kept in the workspace, one for each attempt', async () => {
    const todos = [{ content: 'fix it', status: 'in_progress' }]
    await data('todo_write', { todos })
    expect(await data('todo_read', {})).toMatchObject({ todos })
    await data('attempt_create', { name: 'tasks' })
    expect(await data('todo_read', { layer: 'tasks' })).toMatchObject({ todos: [] })
  })
})
