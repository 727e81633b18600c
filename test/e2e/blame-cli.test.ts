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
})
