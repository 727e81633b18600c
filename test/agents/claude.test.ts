import { execFile, spawn } from 'node:child_process'
import { chmod, cp, mkdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { cairnHooks, withSessionLayer } from '@cairn/agents/claude'
import { fixWithClaude, type Query } from '../../examples/agents/claude.ts'
import { startServer, type TestServer } from '../e2e/start-server.ts'
import { useCairn } from '../e2e/run-cairn.ts'
import { noMount } from '../mount/fixture.ts'

const shell = promisify(execFile)
const plugin = fileURLToPath(new URL('../../packages/agents/claude-plugin', import.meta.url))

interface Call {
  readonly tool_name: string
  readonly tool_use_id: string
  readonly tool_input: { readonly file_path?: string; readonly command?: string }
}

/** What a session of Claude does: each call after its hooks, and not when they deny it. */
describe.skipIf(noMount)('Claude in a mounted workspace', () => {
  const cairn = useCairn()
  let server: TestServer
  let env: Record<string, string>
  const mounts: string[] = []

  beforeAll(async () => {
    server = await startServer()
    const { url: CAIRN_SERVER, apiKey: CAIRN_API_KEY } = server
    env = { CAIRN_SERVER, CAIRN_API_KEY }
    const bin = join(cairn.home(), 'bin')
    await mkdir(bin)
    const words = cairn.words().map((word) => `'${word}'`)
    await writeFile(join(bin, 'cairn'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`)
    await chmod(join(bin, 'cairn'), 0o755)
  })
  afterAll(async () => {
    for (const path of mounts) if (await isMounted(path)) await cairn.run(['umount', path])
    await server.stop()
  })

  /** A layer of a new workspace, mounted. */
  async function mountLayer(name: string): Promise<string> {
    await server.cairn.workspaces.create(name)
    const workspace = server.cairn.workspace(name)
    await workspace.files.write('/app.js', 'let a = 1\n')
    const { id } = await workspace.layers.create('/', { name: 'fix' })
    const directory = join(cairn.home(), name)
    const ran = await cairn.run(['mount', '--workspace', name, '--layer', id, ':/', directory], {
      env,
    })
    expect(ran.stderr).toBe('')
    mounts.push(directory)
    return directory
  }

  const script = (directory: string): readonly Call[] => [
    {
      tool_name: 'Write',
      tool_use_id: 'toolu_1',
      tool_input: { file_path: join(directory, 'new.js') },
    },
    {
      tool_name: 'Bash',
      tool_use_id: 'toolu_2',
      tool_input: { command: 'rm app.js; mkdir -p d && echo x > d/y; git init -q .' },
    },
    { tool_name: 'Bash', tool_use_id: 'toolu_3', tool_input: { command: 'echo later > later' } },
  ]

  /** The server is in this process: whatever waits for the mount must not hold it up. */
  async function act({ tool_input: { file_path, command } }: Call, cwd: string): Promise<void> {
    if (file_path !== undefined) await writeFile(file_path, 'written\n')
    if (command !== undefined) await shell('bash', ['-c', command], { cwd })
  }

  const look = async (cwd: string): Promise<string> =>
    (await shell('ls', ['-A'], { cwd })).stdout.replaceAll('\n', ' ')

  const isMounted = (path: string): Promise<boolean> =>
    readFile(join(path, '.cairn/status')).then(
      () => true,
      () => false,
    )

  it('the hook pack: a checkpoint before each call that changes files; rewind brings back what the shell did', async () => {
    const cwd = await mountLayer('hooks')
    const { url, apiKey } = server
    const command = ['env', `HOME=${cairn.home()}`, ...cairn.words()]
    const worktrees = join(cairn.home(), 'worktrees')
    const { hooks, rewind } = cairnHooks({ server: url, apiKey, command, worktrees })
    const [matcher] = hooks.PreToolUse
    const [after] = hooks.PostToolUse
    for (const call of script(cwd)) {
      expect(new RegExp(`^(?:${matcher!.matcher})$`).test(call.tool_name)).toBe(true)
      const answer = await matcher!.hooks[0]!({
        hook_event_name: 'PreToolUse',
        cwd,
        ...call,
      } as never)
      expect(answer).toEqual({})
      await act(call, cwd)
      await after!.hooks[0]!({ hook_event_name: 'PostToolUse', cwd, ...call } as never)
      await writeFile(join(cwd, 'between'), 'calls\n')
    }
    const fix = server.cairn.workspace('hooks').layer('fix')
    for (const [path, id] of [
      ['/new.js', 'toolu_1'],
      ['/d/y', 'toolu_2'],
      ['/between', undefined],
    ] as const)
      expect((await fix.blame(path)).origins.map(({ toolCall }) => toolCall)).toEqual([id])
    const { paths } = await fix.undo({ toolCall: 'toolu_1', dryRun: true })
    expect(paths).toMatchObject([{ kind: 'deleted', path: '/new.js' }])
    expect(await look(cwd)).toBe('.git between d later new.js ')
    await rewind('toolu_3', cwd)
    expect(await look(cwd)).toBe('.git between d new.js ')
    await rewind('toolu_2', cwd)
    expect(await look(cwd)).toBe('app.js between new.js ')
    expect(await readFile(join(cwd, 'app.js'), 'utf8')).toBe('let a = 1\n')

    const [create] = hooks.WorktreeCreate[0]!.hooks
    const made = await create!({ hook_event_name: 'WorktreeCreate', cwd, name: 'try' } as never)
    const { worktreePath } = made.hookSpecificOutput as { worktreePath: string }
    mounts.push(worktreePath)
    await writeFile(join(worktreePath, 'app.js'), 'const a = 1\n')
    expect(await readFile(join(cwd, 'app.js'), 'utf8')).toBe('let a = 1\n')
    const [remove] = hooks.WorktreeRemove[0]!.hooks
    await remove!({ hook_event_name: 'WorktreeRemove', cwd, worktree_path: worktreePath } as never)
    expect(await isMounted(worktreePath)).toBe(false)
    const layers = []
    for await (const { id } of server.cairn.workspace('hooks').layers.list({ tag: 'worktree=try' }))
      layers.push(id)
    expect(layers).toHaveLength(1)
    await server.cairn.workspace('hooks').layers.commit(layers[0]!)
    expect(await readFile(join(cwd, 'app.js'), 'utf8')).toBe('const a = 1\n')
  })

  it('the example: what did not help is rewound as a whole', async () => {
    const cwd = await mountLayer('example')
    const { url, apiKey } = server
    const command = ['env', `HOME=${cairn.home()}`, ...cairn.words()]
    const query: Query = async function* ({ options: { cwd, hooks } }) {
      for (const call of script(cwd)) {
        const event = { cwd, ...call }
        for (const { hooks: before } of hooks.PreToolUse)
          for (const hook of before) await hook({ hook_event_name: 'PreToolUse', ...event })
        await act(call, cwd)
        for (const { hooks: after } of hooks.PostToolUse)
          for (const hook of after) await hook({ hook_event_name: 'PostToolUse', ...event })
        yield call
      }
    }
    const fix = (isFixed: boolean): Promise<boolean> =>
      fixWithClaude(query, cwd, async () => isFixed, { server: url, apiKey, command })
    expect([await fix(false), await look(cwd)]).toEqual([false, 'app.js '])
    expect([await fix(true), await look(cwd)]).toEqual([true, '.git d later new.js '])
  })

  it('the hook pack: outside of a workspace nothing happens; without a checkpoint there is no call', async () => {
    const { url } = server
    const { hooks, rewind } = cairnHooks({ server: url, apiKey: server.apiKey })
    const event = {
      hook_event_name: 'PreToolUse',
      cwd: '/',
      tool_use_id: 'toolu_1',
      tool_input: {},
    }
    expect(await hooks.PreToolUse[0]!.hooks[0]!(event as never)).toEqual({})
    await expect(rewind('toolu_1', '/')).rejects.toThrow(/in no mount/)
    const cwd = await mountLayer('denied')
    const elsewhere = ['env', 'HOME=/nonexistent', ...cairn.words()]
    const other = cairnHooks({ server: url, apiKey: server.apiKey, command: elsewhere })
    const unmarked = await other.hooks.PreToolUse[0]!.hooks[0]!({ ...event, cwd } as never)
    expect(unmarked.systemMessage).toMatch(/does not name this call: .*another HOME/)
    expect(unmarked).not.toHaveProperty('hookSpecificOutput')
    const stranger = cairnHooks({ server: url, apiKey: 'cairn_k1.key_none.none' })
    const answer = await stranger.hooks.PreToolUse[0]!.hooks[0]!({ ...event, cwd } as never)
    expect(answer.hookSpecificOutput).toMatchObject({
      permissionDecision: 'deny',
      permissionDecisionReason: expect.stringMatching(
        /^cannot make a checkpoint before the call: /,
      ),
    })
  })

  it('a worker: each session goes on in its own layer, mounted while it works', async () => {
    await server.cairn.workspaces.create('worker')
    const { files, layers } = server.cairn.workspace('worker')
    await files.write('/app.js', 'let a = 1\n')
    const { url, apiKey } = server
    const options = { server: url, apiKey, command: cairn.words(), workspace: 'worker' }
    const run = (session: string, command: string): Promise<{ stdout: string }> =>
      withSessionLayer(options, session, (cwd) => shell('bash', ['-c', command], { cwd }))
    await run('sesn_1', 'echo one > one; sed -i s/let/const/ app.js')
    const [place = '', ...seen] = (await run('sesn_1', 'pwd; cat one app.js')).stdout.split('\n')
    expect(seen).toEqual(['one', 'const a = 1', ''])
    expect(await isMounted(place)).toBe(false)
    expect((await run('sesn_2', 'ls')).stdout).toBe('app.js\n')
    await expect(run('sesn_2', 'exit 3')).rejects.toMatchObject({ code: 3 })
    const made: string[] = []
    for await (const { id } of layers.list()) made.push(id)
    expect(made).toHaveLength(2)
    await layers.commit(made[0]!)
    expect(await files.readText('/app.js')).toBe('const a = 1\n')
  })

  it('the plugin: the same through the command, and a folder that works wherever it is copied', async () => {
    const cwd = await mountLayer('plugin')
    const copy = join(cairn.home(), 'copied-plugin')
    await cp(plugin, copy, { recursive: true })
    const { hooks } = JSON.parse(await readFile(join(copy, 'hooks/hooks.json'), 'utf8')) as {
      hooks: Record<string, readonly { readonly hooks: readonly { readonly command: string }[] }[]>
    }
    const run = async (
      event: { readonly hook_event_name: string; readonly [field: string]: unknown },
      more: Record<string, string> = {},
    ): Promise<{ status: number; stdout: string; stderr: string }> => {
      const child = spawn('bash', ['-c', hooks[event.hook_event_name]![0]!.hooks[0]!.command], {
        env: {
          PATH: `${join(cairn.home(), 'bin')}:${join(process.execPath, '..')}:${process.env['PATH']}`,
          HOME: cairn.home(),
          CLAUDE_PLUGIN_ROOT: copy,
          ...env,
          ...more,
        },
      })
      child.stdin.end(JSON.stringify({ cwd, ...event }))
      const ended = new Promise<number>((resolve) => child.once('close', resolve))
      const [stdout, stderr] = await Promise.all([text(child.stdout), text(child.stderr)])
      return { status: await ended, stdout, stderr }
    }
    for (const call of script(cwd)) {
      const { status, stderr } = await run({ hook_event_name: 'PreToolUse', ...call })
      expect([status, stderr]).toEqual([0, ''])
      await act(call, cwd)
      const ended = await run({ hook_event_name: 'PostToolUseFailure', ...call })
      expect([ended.status, ended.stderr]).toEqual([0, ''])
    }
    const { origins } = await server.cairn.workspace('plugin').layer('fix').blame('/new.js')
    expect(origins[0]!.toolCall).toBe('toolu_1')
    await server.cairn.workspace('plugin').layers.rollback('fix', { beforeToolCall: 'toolu_2' })
    expect(await look(cwd)).toBe('app.js new.js ')
    const refused = await run(
      { hook_event_name: 'PreToolUse', ...script(cwd)[0] },
      { CAIRN_API_KEY: 'cairn_k1.key_none.none' },
    )
    expect([refused.status, refused.stderr.startsWith('cairn: cannot do PreToolUse: ')]).toEqual([
      2,
      true,
    ])
    const made = await run({ hook_event_name: 'WorktreeCreate', name: 'try' })
    const directory = made.stdout.trim()
    mounts.push(directory)
    expect(await look(directory)).toBe('app.js new.js ')
    const removed = { hook_event_name: 'WorktreeRemove', worktree_path: directory }
    expect(await run(removed)).toMatchObject({ status: 0 })
    expect(await isMounted(directory)).toBe(false)
    const elsewhere = { hook_event_name: 'PreToolUse', cwd: '/', tool_use_id: 'x' }
    expect(await run(elsewhere)).toMatchObject({ status: 0 })
  })

  it('the plugin has the version of the package, and the tools over MCP', async () => {
    const read = async (path: string): Promise<unknown> =>
      JSON.parse(await readFile(join(plugin, path), 'utf8'))
    const { version } = (await read('../package.json')) as { version: string }
    expect(await read('.claude-plugin/plugin.json')).toMatchObject({ name: 'cairn', version })
    expect(await read('.mcp.json')).toEqual({
      mcpServers: { cairn: { command: 'cairn', args: ['mcp'] } },
    })
  })
})
