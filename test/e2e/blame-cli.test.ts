import { beforeAll, describe, expect, it } from 'vitest'
import { useCairn } from './run-cairn.ts'
import { useServer } from './use-server.ts'

describe('cairn log and cairn blame', () => {
  const cairn = useCairn()
  const server = useServer(cairn)

  beforeAll(() => server.enter('w'))

  const write = async (toolCall: string, text: string, ...rest: string[]): Promise<void> => {
    const env = { CAIRN_TOOL_CALL: toolCall }
    const ran = await cairn.run(['fs', 'cp', '-', ':/f', ...rest], { env, stdin: text })
    if (ran.code !== 0) throw new Error(ran.stderr)
  }

  it('tell who, in which tool call, also across a commit and after the file has gone', async () => {
    await write('call-1', 'one\ntwo\n')
    await cairn.text('fs', 'layer', 'create', ':/', '--name', 'x')
    await write('call-2', 'one\nTWO\n', '--layer', 'x')
    await cairn.text('fs', 'layer', 'commit', 'x')
    await cairn.text('fs', 'rm', ':/f')
    const { stdout, stderr } = await cairn.run(['blame', ':/f'])
    const lines = stdout.toString().trimEnd().split('\n')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/\(call-1\).* write +1 {2}one$/)
    expect(lines[1]).toMatch(/:\d+ .*\(call-2\).* write +2 {2}TWO$/)
    expect(stderr).toMatch(/^deleted: /)
    const log = await cairn.text('log', ':/f')
    expect(log).toMatch(/tool call call-1\) {2}write \/f\n/)
    expect(log).toMatch(/tool call call-2\) {2}write \/f\n/)
    expect(log).toMatch(/commit \S+ \/f\n/)
    expect(log).toMatch(/unlink \/f\n$/)
    expect(await cairn.error('blame', ':/never')).toMatchObject({ errno: 'ENOENT' })
  })

  it('undo takes back what the log calls by an id', async () => {
    const write = async (toolCall: string, path: string): Promise<void> => {
      const env = { CAIRN_TOOL_CALL: toolCall }
      await cairn.run(['fs', 'cp', '-', path], { env, stdin: toolCall })
    }
    await write('call-6', ':/undo/c')
    for (const path of [':/undo/a', ':/undo/b']) await write('call-7', path)
    const dry = await cairn.text('fs', 'undo', '--tool-call', 'call-7', '--dry-run')
    expect(dry).toBe('would change 2 paths\nD  /undo/a\nD  /undo/b\n')
    const one = await cairn.json('fs', 'undo', '--tool-call', 'call-7', '--path', ':/undo/a')
    expect(one).toMatchObject([{ paths: [{ kind: 'deleted', path: '/undo/a' }] }])
    await write('call-9', ':/undo/b')
    const refused = await cairn.error('fs', 'undo', '--tool-call', 'call-7')
    expect(refused).toMatchObject({ code: 'layer_conflict', conflicts: [{ path: '/undo/b' }] })
    expect((await cairn.error('fs', 'undo')).code).toBe('usage')
  })
})
