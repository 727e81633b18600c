import { execFile } from 'node:child_process'
import { describe, expect, it } from 'vitest'
import { Cairn } from '@cairn/sdk'
import { type ToolShell, toolsFor } from '@cairn/agents'
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

interface Found {
  readonly files?: string[]
  readonly counts?: { path: string; count: number }[]
  readonly lines?: { path: string; line: number; text: string; is_match: boolean }[]
  readonly next?: string
}

describe('grep', () => {
  const input = { pattern: 'needle\\d', path: '/s', glob: '*.txt' }

  it('gives paths, lines with context, or counts', async () => {
    await data('write', { file_path: '/s/a.txt', content: 'before\nneedle1\nafter\nneedle2\n' })
    await data('write', { file_path: '/s/b.txt', content: 'NEEDLE3\n' })
    await data('write', { file_path: '/s/c.md', content: 'needle4\n' })
    expect(await data('grep', input)).toEqual({ files: ['/s/a.txt'] })
    expect(await data('grep', { ...input, '-i': true, output_mode: 'count' })).toEqual({
      counts: [
        { path: '/s/a.txt', count: 2 },
        { path: '/s/b.txt', count: 1 },
      ],
    })
    const { text } = await run('grep', { ...input, output_mode: 'content', '-B': 1 })
    expect(text).toBe('/s/a.txt-1-before\n/s/a.txt:2:needle1\n/s/a.txt-3-after\n/s/a.txt:4:needle2')
    expect((await run('grep', { ...input, pattern: 'absent' })).text).toBe(
      'Nothing matches absent.',
    )
  })

  it.each(['content', 'files_with_matches', 'count'])(
    'pages of %s together have everything once',
    async (output_mode) => {
      const seen: string[] = []
      let cursor: string | undefined
      do {
        const asked = { pattern: 'e', path: '/s', output_mode, head_limit: 1, '-i': true, cursor }
        const page = await data<Found>('grep', asked)
        for (const { path, line } of page.lines ?? []) seen.push(`${path}:${line}`)
        for (const path of page.files ?? page.counts?.map((one) => one.path) ?? []) seen.push(path)
        cursor = page.next
      } while (cursor !== undefined)
      expect(seen).toEqual(
        output_mode === 'content'
          ? ['/s/a.txt:1', '/s/a.txt:2', '/s/a.txt:3', '/s/a.txt:4', '/s/b.txt:1', '/s/c.md:1']
          : ['/s/a.txt', '/s/b.txt', '/s/c.md'],
      )
    },
  )

  it('an answer stays below its bound even where each line is long, and goes on behind it', async () => {
    const content = `${'y'.repeat(5000)}\n`.repeat(900)
    await data('write', { file_path: '/long-lines', content })
    const asked = { pattern: '^y', path: '/long-lines', output_mode: 'content', head_limit: 1000 }
    const { text } = await run('grep', asked)
    expect(text.length).toBeLessThan(66_000)
    const { lines, next } = await data<Found>('grep', asked)
    const rest = await data<Found>('grep', { ...asked, cursor: next })
    expect(rest.lines![0]!.line).toBe(lines!.length + 1)
  })

  it('a pattern that is none says why in one line', async () => {
    expect(await failure('grep', { pattern: '(' })).toMatch(/^cannot .*\(/)
  })
})

describe('sql', () => {
  it('gives rows, and says when there are more', async () => {
    for (const name of ['1', '2', '3'])
      await data('write', { file_path: `/q/${name}.q`, content: name })
    const statement = "select path, size from files where ext = 'q' order by path"
    expect(await data('sql', { sql: statement, limit: 2 })).toEqual({
      columns: ['path', 'size'],
      rows: [
        ['/q/1.q', 1],
        ['/q/2.q', 1],
      ],
      truncated: true,
    })
    const rest = await run('sql', { sql: `${statement} limit 2 offset 2` })
    expect(rest.text).toBe('path\tsize\n/q/3.q\t1')
  })

  it('an answer with long texts stays below its bound', async () => {
    await data('write', { file_path: '/q/long', content: 'z'.repeat(100_000) })
    const many = "select text from files f, (select 1 from files limit 9) where path = '/q/long'"
    expect((await run('sql', { sql: many })).text.length).toBeLessThan(66_000)
  })

  it('a statement that changes something is refused', async () => {
    expect(await failure('sql', { sql: 'delete from files' })).toMatch(
      /^cannot run the SQL: it may only read/,
    )
  })
})

describe('bash', () => {
  const shell: ToolShell = {
    exec: (command) =>
      new Promise((resolve) => {
        execFile('bash', ['-c', command], { maxBuffer: 1 << 20 }, (error, stdout, stderr) =>
          resolve({ code: error ? Number(error.code) : 0, stdout, stderr }),
        )
      }),
  }

  it('gives output and exit code, and tells the command its tool call', async () => {
    const command = 'echo "$CAIRN_TOOL_CALL $0"; echo "it\'s wrong" >&2; exit 4'
    expect(await data('bash', { command }, { shell, toolCall: "call '7" })).toEqual({
      exit_code: 4,
      stdout: "call '7 bash\n",
      stderr: "it's wrong\n",
    })
  })

  it('a long output keeps its beginning and its end', async () => {
    const { stdout } = await data<{ stdout: string }>('bash', { command: 'seq 100000' }, { shell })
    expect(stdout.length).toBeLessThan(33_000)
    expect(stdout).toMatch(/^1\n2\n[^]*more characters[^]*\n100000\n$/)
  })

  it('bash is neither listed nor run without a sandbox', async () => {
    expect(toolsFor(undefined).map(({ name }) => name)).not.toContain('bash')
    expect(toolsFor(undefined, shell).map(({ name }) => name)).toContain('bash')
    expect(await failure('bash', { command: 'true' })).toMatch(/no sandbox/)
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

  it('undo takes a call back; a path that was changed since is named with the next step', async () => {
    const { url, apiKey } = server()
    const cairn = new Cairn({ server: url, apiKey, toolCall: 'wrong' })
    await data('write', { file_path: '/u/a', content: 'right' })
    await data('write', { file_path: '/u/a', content: 'wrong' }, { cairn })
    await data('write', { file_path: '/u/b', content: 'wrong' }, { cairn })
    const asked = { tool_call: 'wrong' }
    const dry = await run('undo', { ...asked, dry_run: true })
    expect(dry.text).toBe('Would change 2 paths.\nmodified /u/a\ndeleted /u/b')
    await data('write', { file_path: '/u/b', content: 'later' })
    expect(await failure('undo', asked)).toMatch(
      /cannot undo wrong: .*\/u\/b \(edit\/delete\).*narrower path/,
    )
    expect(await data('undo', { ...asked, path: '/u/a' })).toMatchObject({ total: 1 })
    expect((await run('read', { file_path: '/u/a' })).text).toContain('right')
    expect(await failure('undo', {})).toMatch(/Give tool_call or actor/)
  })

  it('the list of tasks is kept in the workspace, one for each attempt', async () => {
    const todos = [{ content: 'fix it', status: 'in_progress' }]
    await data('todo_write', { todos })
    expect(await data('todo_read', {})).toMatchObject({ todos })
    await data('attempt_create', { name: 'tasks' })
    expect(await data('todo_read', { layer: 'tasks' })).toMatchObject({ todos: [] })
  })
})
