import { Runner, RunState } from '@openai/agents'
import { Manifest, SandboxAgent } from '@openai/agents/sandbox'
import { assistantMessage, functionCall, ScriptedModel } from '@openai/agents/testing'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import {
  type CairnSandboxClient,
  cairnSandboxClient,
  cairnSnapshots,
  sandboxSession,
} from '@cairn/agents/openai'
import type { Sandbox } from '@cairn/sandbox'
import { runSandboxTests } from '@cairn/sandbox/testing'
import type { Workspace } from '@cairn/sdk'
import { fixWithOpenAI } from '../../examples/agents/openai.ts'
import { type LocalSetup, noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { through } from './through.ts'

function throughSession(sandbox: Sandbox): Sandbox {
  const session = sandboxSession(sandbox)
  return through(sandbox, {
    exec: async (cmd, timeoutMs) => {
      const result = await session.exec({ cmd, login: false, yieldTimeMs: timeoutMs })
      const { exitCode, sessionId, stdout, stderr } = result
      if (sessionId === undefined) return { code: exitCode!, stdout, stderr }
      // It goes on: the model ends it with Ctrl-C.
      await session.writeStdin({ sessionId, chars: '\u0003' })
      return { code: 1, stdout, stderr }
    },
    files: {
      read: (path) => session.readFile({ path }),
      write: (path, content) =>
        session.materializeEntry({ path, entry: { type: 'file', content } }),
    },
  })
}

const patch = (
  callId: string,
  type: 'update_file' | 'create_file',
  path: string,
  diff: string,
) => ({
  type: 'apply_patch_call' as const,
  callId,
  status: 'completed' as const,
  operation: { type, path, diff },
})

describe.skipIf(noJail !== undefined)(`OpenAI Agents (${noJail ?? 'as root'})`, () => {
  runSandboxTests(async () => {
    const setup = await openLocalSetup()
    const hidesStops = "OpenAI's sessions have no field for it"
    return { ...setup, hidesStops, make: (workspace) => throughSession(setup.make(workspace)) }
  })

  describe('client and session', () => {
    let setup: LocalSetup
    beforeAll(async () => {
      setup = await openLocalSetup()
    })
    afterAll(() => setup.close())

    const placeOf = ({ name }: Workspace) => ({
      name,
      server: setup.server,
      token: setup.secrets[0]!,
    })
    const clientOf = (workspace: Workspace): CairnSandboxClient =>
      cairnSandboxClient({
        workspace: placeOf(workspace),
        make: (workspace) => setup.make(undefined, { workspace }),
      })

    it('the example: a scripted agent fixes a test with commands and patches, and the layer is committed', async () => {
      const workspace = await setup.makeWorkspace()
      await workspace.files.write('/answer.sh', 'answer=41\n')
      await workspace.files.write('/test.sh', '. ./answer.sh; test "$answer" = 42\n')
      const model = new ScriptedModel([
        [functionCall('exec_command', { cmd: 'sh test.sh' }, { callId: 'call-1' })],
        [
          patch('call-2', 'update_file', 'answer.sh', '@@\n-answer=41\n+answer=42\n'),
          patch('call-3', 'create_file', 'notes', '+fixed\n'),
        ],
        [functionCall('exec_command', { cmd: 'sh test.sh' }, { callId: 'call-4' })],
        [assistantMessage('done')],
      ])
      const { directory } = setup
      expect(await fixWithOpenAI(placeOf(workspace), model, { directory })).toBe('done')
      const asked = JSON.stringify(model.lastCall!.request.input)
      expect(asked).toMatch(/The command ended with 1.*The command ended with 0/s)
      expect(await workspace.files.readText('/answer.sh')).toBe('answer=42\n')
      expect(await workspace.files.readText('/notes')).toBe('fixed')
    })

    it('what the manifest describes is there, and what it cannot be given is refused', async () => {
      const workspace = await setup.makeWorkspace()
      const client = clientOf(workspace)
      const session = await client.create({
        manifest: {
          root: '/work',
          entries: { src: { type: 'dir', children: { a: { type: 'file', content: 'a\n' } } } },
          environment: { WORD: 'given' },
        },
      })
      const ran = await session.exec({ cmd: 'pwd; cat src/a; echo $WORD', login: false })
      expect(ran).toMatchObject({ stdout: '/work\na\ngiven\n', exitCode: 0 })
      expect(await session.listDir({ path: 'src' })).toEqual([
        { name: 'a', path: 'src/a', type: 'file' },
      ])
      expect(await session.directoryExists('src')).toBe(true)
      expect(await session.pathExists('none')).toBe(false)
      await expect(session.exec({ cmd: 'true', runAs: 'root' })).rejects.toThrow(/runAs/)
      await expect(session.resolveExposedPort(80)).rejects.toThrow(/E2BSandbox/)
      await session.shutdown()
      const repository = { type: 'git_repo', repo: 'owner/name' } as const
      const refused = client.create(new Manifest({ entries: { repository } }))
      await expect(refused).rejects.toThrow(/git clone/)
    })

    it('a command that goes on is polled, and a terminal takes input', async () => {
      const sandbox = setup.make()
      const session = sandboxSession(sandbox)
      const cmd = 'echo first; read -r line; echo "got $line"; tty'
      const begun = await session.exec({ cmd, tty: true, yieldTimeMs: 500 })
      expect(begun.output).toContain('first')
      const { sessionId } = begun
      expect(sessionId).toBeDefined()
      const ended = await session.writeStdin({
        sessionId: sessionId!,
        chars: 'word\n',
        yieldTimeMs: 60_000,
      })
      expect(ended).toMatch(/ended with 0.*got word.*\/dev\/pts/s)
      await expect(session.writeStdin({ sessionId: sessionId! })).rejects.toThrow(/has ended/)
      await sandbox.dispose()
    })

    it('a snapshot is a pointer: of few bytes, restored in another session, and kept in a layer', async () => {
      const workspace = await setup.makeWorkspace()
      const client = clientOf(workspace)
      const store = cairnSnapshots(placeOf(workspace))
      const snapshot = { type: 'remote', id: 'prepared', store } as const
      const first = await client.create({ snapshot })
      await first.exec({ cmd: 'head -c 1000000 /dev/urandom > large; echo installed > deps' })
      const pointer = await first.persistWorkspace()
      expect(pointer.length).toBeLessThan(300)
      await client.serializeSessionState!(first.state)
      await first.shutdown()
      await workspace.layers.abandon(first.state.layer!)

      const second = await client.create({ snapshot, options: { layer: 'second' } })
      expect(await second.exec({ cmd: 'cat deps' })).toMatchObject({ stdout: 'installed\n' })
      await second.exec({ cmd: 'echo changed > deps' })
      await second.hydrateWorkspace(pointer)
      expect(await second.exec({ cmd: 'cat deps' })).toMatchObject({ stdout: 'installed\n' })
      await second.shutdown()
      expect(await workspace.layer('second').files.readText('/deps')).toBe('changed\n')
      await expect(second.hydrateWorkspace(new Uint8Array([1]))).rejects.toThrow(/not a pointer/)
      await store.delete!({ id: 'prepared' })
      expect(await store.exists!({ id: 'prepared' })).toBe(false)
    })

    it('a run that waits for approval goes on in another process, on the same layer', async () => {
      const workspace = await setup.makeWorkspace()
      const agentOf = (steps: ConstructorParameters<typeof ScriptedModel>[0]): SandboxAgent =>
        new SandboxAgent({ name: 'Worker', model: new ScriptedModel(steps), instructions: 'Work.' })
      const runner = new Runner({ tracingDisabled: true })
      const call = (cmd: string, callId: string) => [
        functionCall('exec_command', { cmd }, { callId }),
      ]
      const first = agentOf([call('echo one > one', 'call-1'), [assistantMessage('paused')]])
      const before = await runner.run(first, 'Begin.', {
        sandbox: { client: clientOf(workspace), options: { layer: 'long' } },
      })
      const stored = before.state.toString()
      expect(stored).not.toContain(setup.secrets[0])
      const second = agentOf([call('cat one', 'call-2'), [assistantMessage('done')]])
      const state = await RunState.fromString(second, stored)
      expect(state).toBeDefined()
      const after = await runner.run(second, 'Go on.', {
        sandbox: { client: clientOf(workspace), options: { layer: 'long' } },
      })
      expect(after.finalOutput).toBe('done')
      expect(JSON.stringify(after.history)).toContain('one')
    })
  })
})
