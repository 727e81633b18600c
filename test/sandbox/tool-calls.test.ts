import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type LocalSetup, noJail, openLocalSetup } from './local-setup.ts'

describe.skipIf(noJail !== undefined)(`tool calls in jails (${noJail ?? 'as root'})`, () => {
  let setup: LocalSetup
  beforeAll(async () => {
    setup = await openLocalSetup()
  })
  afterAll(() => setup.close())

  it('the log names the call of the command that made a change', async () => {
    const workspace = await setup.makeWorkspace()
    const sandbox = setup.make({ name: workspace.name })
    await sandbox.exec("CAIRN_TOOL_CALL=call-1 bash -c 'echo > one; cp one two'; echo > three")
    await sandbox.dispose()
    const calls = new Map<string, string>()
    for await (const { toolCall = '-', operations } of workspace.log())
      for (const { path = '' } of operations) calls.set(path, toolCall)
    expect(['/one', '/two', '/three'].map((path) => calls.get(path))).toEqual([
      'call-1',
      'call-1',
      '-',
    ])
  })
})
