import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { describe, expect, it } from 'vitest'
import { cairnSessionStore, type ClaudeSessionStore, spawnIn } from '@cairn/agents/claude'
import { noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { useAgentSite } from './site.ts'

const { server } = useAgentSite()

function store(): ClaudeSessionStore {
  return cairnSessionStore({ server: server().url, apiKey: server().apiKey, workspace: 'w' })
}

describe('the session store of Claude', () => {
  const key = { projectKey: '-srv-site', sessionId: 'b1a2' }

  it('gives transcripts as they were, of any size, and each entry once', async () => {
    expect(await store().load(key)).toBeNull()
    const entries = [
      { type: 'user', uuid: 'u1', message: { text: 'Fix it. grüße 🪨 \ud83d \u0000' } },
      { type: 'assistant', uuid: 'a1', message: { text: 'x"\\'.repeat(300_000) } },
      { type: 'title', title: 'Fix' },
    ]
    await store().append(key, entries)
    await store().append(key, [entries[0]!])
    await store().append(key, [{ type: 'title', title: 'Fix' }])
    expect(await store().load(key)).toEqual([...entries, entries[2]])
    const { cairn } = server()
    for await (const { journal, entries } of journalsOf(cairn.workspace('w'))) {
      expect(entries).toBeGreaterThan(0)
      await cairn.workspace('w').journals.verify(journal)
    }
  })

  it('lists the sessions of a project, and the sub-agents of a session', async () => {
    const subpath = 'subagents/agent-1'
    await store().append({ ...key, subpath }, [{ type: 'user', uuid: 's1' }])
    await store().append({ ...key, projectKey: 'other' }, [{ type: 'user', uuid: 'o1' }])
    const sessions = await store().listSessions(key.projectKey)
    expect(sessions).toEqual([{ sessionId: 'b1a2', mtime: expect.any(Number) }])
    expect(Math.abs(Date.now() - sessions[0]!.mtime)).toBeLessThan(600_000)
    expect(await store().listSubkeys(key)).toEqual([subpath])
    expect(await store().load({ ...key, subpath })).toEqual([{ type: 'user', uuid: 's1' }])
  })
})

async function* journalsOf(
  workspace: ReturnType<ReturnType<typeof server>['cairn']['workspace']>,
): AsyncGenerator<{ journal: string; entries: number }> {
  for await (const { journal, head } of workspace.journals.list())
    yield { journal, entries: head.seq }
}

it.skipIf(noJail)(
  'Claude Code is started in a sandbox, with its input and environment',
  async () => {
    const setup = await openLocalSetup()
    const { name, files } = await setup.makeWorkspace()
    const sandbox = setup.make({ name })
    const script =
      'while read -r line; do echo "{\\"said\\":\\"$line\\"}"; done; env | cut -d= -f1 > names; pwd > place'
    await sandbox.fs.write('claude', script)
    const spawn = spawnIn(sandbox)
    const { signal } = new AbortController()
    const env = { ANTHROPIC_API_KEY: 'k', HOST_SECRET: 's' }
    const child = spawn({ command: 'sh', args: ['claude'], cwd: '/srv/site', env, signal })
    const exited = once(child as never, 'exit')
    child.stdin.write('hello\n')
    child.stdin.end('again\n')
    expect(await text(child.stdout)).toBe('{"said":"hello"}\n{"said":"again"}\n')
    expect([await exited, child.exitCode, child.killed]).toEqual([[0, null], 0, false])
    await sandbox.flush()
    expect(await files.readText('/place')).toBe(`${sandbox.workDir}\n`)
    expect((await files.readText('/names')).split('\n')).toContain('ANTHROPIC_API_KEY')
    expect(await files.readText('/names')).not.toContain('HOST_SECRET')

    const ending = new AbortController()
    const long = spawn({ command: 'sleep', args: ['1000'], env: {}, signal: ending.signal })
    const ended = once(long as never, 'exit')
    ending.abort()
    expect([(await ended)[0], long.killed]).toEqual([137, true])
    await sandbox.dispose()
    const late = spawn({ command: 'true', args: [], env: {}, signal })
    expect(String((await once(late as never, 'error'))[0])).toMatch(/has ended/)
    await setup.close()
  },
)
