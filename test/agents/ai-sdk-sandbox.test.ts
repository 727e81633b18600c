import { generateText, stepCountIs, tool } from 'ai'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { z } from 'zod'
import { cairnSandboxes, sandboxSession } from '@cairn/agents/ai-sdk/sandbox'
import type { Sandbox } from '@cairn/sandbox'
import { runSandboxTests } from '@cairn/sandbox/testing'
import { type LocalSetup, noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { scriptedModel } from './scripted-model.ts'
import { through } from './through.ts'

function throughSession(sandbox: Sandbox): Sandbox {
  const session = sandboxSession(sandbox)
  return through(sandbox, {
    exec: async (command, timeoutMs) => {
      const abortSignal = AbortSignal.timeout(timeoutMs)
      try {
        const { exitCode: code, ...said } = await session.run({ command, abortSignal })
        return { code, ...said }
      } catch (error) {
        if ((error as Error).name !== 'TimeoutError') throw error
        return { code: 1, stdout: '', stderr: String(error) }
      }
    },
    files: {
      read: async (path) => session.readBinaryFile({ path }),
      write: async (path, content) => session.writeBinaryFile({ path, content }),
    },
  })
}

describe.skipIf(noJail !== undefined)(`the sandbox of the AI SDK (${noJail ?? 'as root'})`, () => {
  runSandboxTests(async () => {
    const setup = await openLocalSetup()
    const hidesStops = "the AI SDK's results have no field for it"
    return { ...setup, hidesStops, make: (workspace) => throughSession(setup.make(workspace)) }
  })

  describe('session and provider', () => {
    let setup: LocalSetup
    beforeAll(async () => {
      setup = await openLocalSetup()
    })
    afterAll(() => setup.close())

    it('tells what is there, and what is not', async () => {
      const sandbox = setup.make()
      const session = sandboxSession(sandbox)
      await session.writeTextFile({ path: 'd/three', content: 'one\ntwo\nthree' })
      await session.run({ command: 'ln -s three d/link' })
      expect(await session.stat({ path: 'd/link' })).toEqual({ type: 'file', size: 13 })
      expect(await session.stat({ path: 'none' })).toBeNull()
      expect(
        (await session.listDirectory({ path: 'd' }))!.toSorted((a, b) =>
          a.name < b.name ? -1 : 1,
        ),
      ).toEqual([
        { name: 'link', type: 'symlink' },
        { name: 'three', type: 'file' },
      ])
      expect(await session.listDirectory({ path: 'none' })).toBeNull()
      await expect(session.listDirectory({ path: 'd/three' })).rejects.toThrow(/not a directory/)
      expect(await session.readTextFile({ path: 'd/three', startLine: 2, endLine: 9 })).toBe(
        'two\nthree',
      )
      expect(await session.readFile({ path: 'none' })).toBeNull()
      expect(await session.deleteFile({ path: 'd/link' })).toBe(true)
      expect(await session.deleteFile({ path: 'd/link' })).toBe(false)
      await expect(session.deleteFile({ path: 'd' })).rejects.toThrow()
      expect(
        await session.run({ command: 'pwd; echo $A', workingDirectory: 'd', env: { A: 'b' } }),
      ).toEqual({
        exitCode: 0,
        stdout: `${sandbox.workDir}/d\nb\n`,
        stderr: '',
      })
      const echo = await session.spawn({ command: 'cat', stdin: true })
      const input = echo.stdin.getWriter()
      await input.write(new TextEncoder().encode('said'))
      await input.close()
      expect(await new Response(echo.stdout).text()).toBe('said')
      const controller = new AbortController()
      const running = await session.spawn({ command: 'sleep 1000', abortSignal: controller.signal })
      controller.abort(new Error('enough'))
      await expect(running.wait()).rejects.toThrow('enough')
      await sandbox.dispose()
    })

    it('a scripted agent works in it through generateText', async () => {
      const workspace = await setup.makeWorkspace()
      const sandbox = setup.make({ name: workspace.name })
      const bash = tool({
        inputSchema: z.object({ command: z.string() }),
        execute: async ({ command }, { experimental_sandbox }) =>
          experimental_sandbox!.run({ command }),
      })
      const model = scriptedModel([
        ['bash', { command: 'echo "let a = 1" > app.js' }],
        ['bash', { command: 'sed -i s/let/const/ app.js && cat app.js' }],
      ])
      const { text } = await generateText({
        model,
        tools: { bash },
        prompt: 'fix it',
        stopWhen: stepCountIs(5),
        experimental_sandbox: sandboxSession(sandbox),
      })
      await sandbox.dispose()
      expect(text).toBe('done')
      expect(await workspace.files.readText('/app.js')).toBe('const a = 1\n')
    })

    it('a provider builds once for an identity and forks that; a session is resumed by its id', async () => {
      const workspace = await setup.makeWorkspace()
      const { url: server, apiKey: token } = { url: setup.server, apiKey: setup.secrets[0]! }
      const options = {
        workspace: { name: workspace.name, server, token },
        make: (place: { readonly name: string; readonly layer?: string }) =>
          setup.make(undefined, { workspace: { ...place, server, token } }),
      }
      let built = 0
      const create = (provider: ReturnType<typeof cairnSandboxes>, sessionId: string) =>
        provider.createSession({
          sessionId,
          identity: 'deps-1',
          onFirstCreate: async (session) => {
            built++
            await session.run({ command: 'echo installed > deps' })
          },
        })
      const provider = cairnSandboxes(options)
      const [first, second] = await Promise.all([create(provider, 'a'), create(provider, 'b')])
      // As another process sees it.
      const third = await create(cairnSandboxes(options), 'c')
      expect(built).toBe(1)
      for (const session of [first, second, third])
        expect(await session.readTextFile({ path: 'deps' })).toBe('installed\n')
      await first.run({ command: 'echo mine > mine' })
      expect(await second.readTextFile({ path: 'mine' })).toBeNull()
      expect(first.defaultWorkingDirectory).toBe('/home/user/workspace')
      await expect(first.getPortUrl({ port: 80 })).rejects.toThrow(/E2BSandbox/)
      await first.stop()
      const again = await provider.resumeSession({ sessionId: 'a' })
      expect([again.id, await again.readTextFile({ path: 'mine' })]).toEqual([first.id, 'mine\n'])
      await again.destroy()
      expect((await workspace.layers.status(again.id)).state).toBe('abandoned')
      await second.destroy()
      await third.destroy()
      await expect(provider.resumeSession({ sessionId: 'unknown' })).rejects.toThrow()
    })
  })
})
