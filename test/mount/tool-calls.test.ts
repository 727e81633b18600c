import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

interface Entry {
  readonly toolCall?: string
}

describe.skipIf(noMount !== undefined)(`tool calls through a mount (${noMount ?? 'FUSE'})`, () => {
  let site: Site
  let mount: SiteMount
  beforeAll(async () => {
    site = await Site.open()
    mount = await site.mount('/', '--tool-calls')
  })
  afterAll(() => site.close())

  /** What the log of a path names, oldest first and each once in a row. */
  async function callsOf(path: string): Promise<string[]> {
    await mount.drain()
    const { stdout } = await site.cairn(['fs', 'log', '--json', `:${path}`])
    const entries = stdout
      .trim()
      .split('\n')
      .map((line) => JSON.parse(line) as Entry)
    const calls = entries.map(({ toolCall = '-' }) => toolCall)
    return calls.filter((call, index) => call !== calls[index - 1])
  }

  const as = (toolCall: string, script: string): string =>
    `CAIRN_TOOL_CALL=${toolCall} sh -ec '${script}'`

  it('the log and blame name the call of the process that made a change, and of its children', async () => {
    await mount.sh(
      `${as('call-1', 'echo 1 > by-shell; mkdir d; touch d/by-child')}; echo 2 >> by-shell; echo 3 > without`,
    )
    expect(await callsOf('/by-shell')).toEqual(['call-1', '-'])
    expect(await callsOf('/d/by-child')).toEqual(['call-1'])
    expect(await callsOf('/without')).toEqual(['-'])
    const { stdout } = await site.cairn(['fs', 'blame', ':/by-shell'])
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(/call-1.* 1$/),
      expect.not.stringContaining('call'),
      '',
    ])
  })

  it('a process that goes on as another program belongs to the call of that one', async () => {
    // The shell makes the file and becomes the command, under the same number.
    await mount.sh(`exec 3> replaced; echo a >&3; ${as('call-2', 'echo b >&3')}`)
    await mount.sh(`echo c > becomes; exec env CAIRN_TOOL_CALL=call-3 sh -c "echo d >> becomes"`)
    expect(await callsOf('/replaced')).toEqual(['-', 'call-2'])
    expect(await callsOf('/becomes')).toEqual(['-', 'call-3'])
  })

  it('what is no id of a call is none', async () => {
    await mount.sh(`CAIRN_TOOL_CALL="two words" sh -c "echo > no-id"; ${as('', 'echo > empty')}`)
    expect([await callsOf('/no-id'), await callsOf('/empty')]).toEqual([['-'], ['-']])
  })

  it('cairn tool-call marks the whole mount, but for processes with a call of their own', async () => {
    const command = async (verb: string, id: string): Promise<string> =>
      (await site.cairn(['tool-call', verb, id, mount.directory], mount.home)).stdout
    await command('begin', 'hook-1')
    await mount.sh(`echo > marked; ${as('own', 'echo > own')}`)
    expect(await command('end', 'another')).toContain('nothing has changed')
    await mount.sh('echo more >> marked')
    await command('end', 'hook-1')
    await mount.sh('echo most >> marked')
    expect(await callsOf('/marked')).toEqual(['hook-1', '-'])
    expect(await callsOf('/own')).toEqual(['own'])
    const refused = await site.tryCairn(['tool-call', 'begin', 'a b', mount.directory], mount.home)
    expect([refused.code, refused.stderr]).toEqual([2, expect.stringContaining("got 'a b'")])
  })

  it('a program that maps over written pages while it creates files does not hang', async () => {
    const directory = mkdtempSync(join(tmpdir(), 'cairn-mapped-'))
    onTestFinished(() => rmSync(directory, { recursive: true }))
    const program = join(directory, 'mapped-over')
    execFileSync('cc', ['-pthread', '-o', program, join(import.meta.dirname, 'mapped-over.c')])
    expect(await mount.sh(as('call-8', program))).toBe('done\n')
    // The kernel writes what is left of the pages by itself.
    expect((await callsOf('/mapped'))[0]).toBe('call-8')
  })

  it('what the server decides beside another writer is attributed, too', async () => {
    const other = await site.mount('/', '--tool-calls')
    await other.sh(as('call-4', 'echo > beside'))
    await mount.sh(as('call-5', 'echo >> beside'))
    await other.drain()
    expect(await callsOf('/beside')).toEqual(['call-4', 'call-5'])
    await other.unmount()
  })

  it('what a killed daemon acknowledged is sent under the same call', async () => {
    await mount.unmount()
    mount = await site.mount('/', '--tool-calls')
    await mount.sh('touch one two')
    await mount.drain()
    site.haltServer()
    await mount.sh(`${as('call-6', 'echo 1 > one')}; echo 2 > two`)
    process.kill(mount.processes().daemon, 'SIGKILL')
    site.resumeServer()
    expect(await callsOf('/one')).toEqual(['-', 'call-6'])
    expect(await callsOf('/two')).toEqual(['-'])
  })

  it('a mount without --tool-calls asks no process', async () => {
    await mount.unmount()
    mount = await site.mount('/')
    await mount.sh(as('call-7', 'echo > unasked'))
    expect(await callsOf('/unasked')).toEqual(['-'])
  })
})
