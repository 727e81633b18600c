import { AIMessage } from '@langchain/core/messages'
import { fakeModel } from '@langchain/core/testing'
import type { BackendProtocolV2, SandboxBackendProtocolV2 } from 'deepagents'
import { describe, expect, expectTypeOf, it } from 'vitest'
import { CairnBackend, CairnSandboxBackend } from '@cairn/agents/deepagents'
import { fixWithDeepAgent } from '../../examples/agents/deepagents.ts'
import { noJail, openLocalSetup } from '../sandbox/local-setup.ts'
import { useAgentSite } from './site.ts'

const { server } = useAgentSite()

function backend(layer?: string): CairnBackend {
  const { url, apiKey } = server()
  return new CairnBackend({ server: url, apiKey, workspace: 'w', layer })
}

describe('the backend of deepagents', () => {
  it('reads text in parts by lines, and anything else as a whole', async () => {
    const { files } = server().cairn.workspace('w')
    await files.write('/lines', 'one\ntwo\nthree\nfour\n')
    await files.write('/image.png', new Uint8Array([0, 1, 2]))
    expect(await backend().read('/lines', 1, 2)).toEqual({
      content: 'two\nthree',
      mimeType: 'text/plain',
      totalLines: 4,
      startLine: 2,
      endLine: 3,
      nextOffset: 3,
    })
    const rest = await backend().read('/lines', 3)
    expect(rest).toMatchObject({ content: 'four\n', endLine: 4 })
    expect(rest).not.toHaveProperty('nextOffset')
    expect(await backend().read('/lines', 9)).toEqual({
      error: 'cannot read /lines from line 9: it has 4 lines.',
    })
    const image = await backend().read('/image.png')
    expect([image.mimeType, [...(image.content as Uint8Array)]]).toEqual(['image/png', [0, 1, 2]])
    expect((await backend().readRaw('/lines')).data).toMatchObject({
      content: 'one\ntwo\nthree\nfour\n',
      modified_at: expect.stringMatching(/^20.+Z$/),
    })
    expect((await backend().read('/none')).error).toMatch(/^cannot .+ls or glob\.$/)
  })

  it('writes, edits, finds and removes; errors are values, in the words of the tools', async () => {
    const one = backend()
    expect(await one.write('/src/a.ts', 'let a = 1\nlet b = 1\n')).toEqual({
      path: '/src/a.ts',
      filesUpdate: null,
    })
    expect((await one.edit('/src/a.ts', ' = 1', ' = 2')).error).toMatch(/2 matches, at lines 1, 2/)
    expect(await one.edit('/src/a.ts', ' = 1', ' = 2', true)).toMatchObject({ occurrences: 2 })
    await one.write('/src/deep/b.ts', 'a = 2 (literal)\n')
    expect((await one.ls('/src')).files).toMatchObject([
      { path: '/src/a.ts', is_dir: false, size: 20 },
      { path: '/src/deep/', is_dir: true },
    ])
    const globbed = await one.glob('**/*.ts', '/src')
    expect(globbed.files!.map(({ path }) => path)).toEqual(['/src/a.ts', '/src/deep/b.ts'])
    expect(await one.grep('(literal)', '/src', '*.ts')).toEqual({
      matches: [{ path: '/src/deep/b.ts', line: 1, text: 'a = 2 (literal)' }],
    })
    expect(await one.grep('2', '/src', null, 1)).toMatchObject({
      matches: [{ path: '/src/a.ts', line: 1 }],
      truncated: true,
    })
    expect(await one.delete('/src/deep')).toEqual({ path: '/src/deep', filesUpdate: null })
    expect((await one.delete('/src/deep')).error).toMatch(/^cannot /)
    expect((await one.ls('/none')).error).toMatch(/^cannot /)
  })

  it('takes and gives several files, each with its own outcome', async () => {
    const bytes = new Uint8Array([0, 255])
    const one = backend()
    expect(await one.uploadFiles([['/up/a', bytes]])).toEqual([{ path: '/up/a', error: null }])
    const down = await one.downloadFiles(['/up/a', '/up/none', '/up'])
    expect(down.map(({ error }) => error)).toEqual([null, 'file_not_found', 'is_directory'])
    expect([...down[0]!.content!]).toEqual([0, 255])
    const { tokens } = server().cairn.workspace('w')
    const allow = [{ path: '/', operations: ['read', 'list'] as const }]
    const { secret } = await tokens.issue('reader', { ttlMs: 60_000, allow })
    const reader = new CairnBackend({ server: server().url, apiKey: secret, workspace: 'w' })
    const refused = await reader.uploadFiles([['/up/b', bytes]])
    expect(refused[0]!.error).toBe('permission_denied')
  })

  it('works in a layer', async () => {
    const { layers, files } = server().cairn.workspace('w')
    await layers.create('/', { name: 'attempt' })
    await backend('attempt').write('/only-there', 'x')
    expect(await files.exists('/only-there')).toBe(false)
  })
})

it.skipIf(noJail)('a sandbox gives commands on the same files', async () => {
  const setup = await openLocalSetup()
  const { name, files } = await setup.makeWorkspace()
  const sandbox = setup.make({ name })
  const access = { server: setup.server, apiKey: setup.secrets[0]!, workspace: name }
  const both = new CairnSandboxBackend(sandbox, access)
  await both.write('/src/a.sh', 'echo said; echo wrong >&2; echo made > made; exit 3\n')
  expect(await both.execute('sh src/a.sh')).toEqual({
    output: 'said\nwrong\n',
    exitCode: 3,
    truncated: false,
  })
  expect((await both.read('/made')).content).toBe('made\n')
  expect(await both.execute('head -c 300000 /dev/zero | tr "\\0" x')).toMatchObject({
    exitCode: 0,
    truncated: true,
  })
  expect(both.id).not.toBe(new CairnSandboxBackend(sandbox, access).id)
  await sandbox.dispose()
  expect(await files.readText('/made')).toBe('made\n')
  await setup.close()
})

it('its types are those of deepagents', () => {
  expectTypeOf<CairnBackend>().toExtend<BackendProtocolV2>()
  expectTypeOf<CairnSandboxBackend>().toExtend<SandboxBackendProtocolV2>()
})

it.skipIf(noJail)(
  'the example: a scripted deep agent fixes a test with files and commands, and the layer is committed',
  async () => {
    const setup = await openLocalSetup()
    const workspace = await setup.makeWorkspace()
    await workspace.files.write('/answer.sh', 'answer=41\n')
    await workspace.files.write('/test.sh', '. ./answer.sh; test "$answer" = 42\n')
    const file_path = '/answer.sh'
    const test = { name: 'execute', args: { command: 'sh test.sh' } }
    const model = fakeModel()
      .respondWithTools([{ ...test, id: 'call-1' }])
      .respondWithTools([{ name: 'grep', args: { pattern: '41' }, id: 'call-2' }])
      .respondWithTools([{ name: 'read_file', args: { file_path }, id: 'call-3' }])
      .respondWithTools([
        {
          name: 'edit_file',
          args: { file_path, old_string: 'answer=41', new_string: 'answer=42' },
          id: 'call-4',
        },
      ])
      .respondWithTools([{ ...test, id: 'call-5' }])
      .respond(new AIMessage('done'))
    const { directory, server, secrets } = setup
    const place = { name: workspace.name, server, token: secrets[0]! }
    expect(await fixWithDeepAgent(place, model, { directory })).toBe('done')
    const told = JSON.stringify(model.calls.at(-1)!.messages)
    expect(told).toMatch(/failed with exit code 1.*answer=41.*succeeded with exit code 0/s)
    expect(await workspace.files.readText(file_path)).toBe('answer=42\n')
    await setup.close()
  },
)
