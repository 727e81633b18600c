import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { readFileSync, writeFileSync } from 'node:fs'
import { type FileHandle, open } from 'node:fs/promises'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from './fixture.ts'

describe.skipIf(noMount)('a mount in the foreground', () => {
  let site: Site
  let command: ChildProcess
  let said: AsyncIterator<string>
  let ended: Promise<unknown>

  beforeEach(async () => {
    site = await Site.open()
    command = site.startCairn(['mount', '--foreground', ':/front', place()])
    said = createInterface(command.stderr!)[Symbol.asyncIterator]()
    ended = once(command, 'exit')
    expect(await nextLine()).toContain('made the directory')
    expect(await nextLine()).toContain('Ctrl-C unmounts')
  })
  afterEach(async () => {
    command.kill('SIGKILL')
    if (isMounted()) await site.cairn(['umount', '--force', place()])
    await site.close()
  })

  const place = (...names: string[]): string => join(site.directory, 'work', ...names)
  const isMounted = (): boolean => readFileSync('/proc/mounts', 'utf8').includes(place())
  const nextLine = async (): Promise<string> => String((await said.next()).value)

  /** What a program has open in there. */
  async function use(): Promise<FileHandle> {
    const used = await open(place('used'), 'w')
    await site.cairn(['mount', 'drain', place()])
    return used
  }

  it('stays until Ctrl-C, which brings everything to the server', async () => {
    writeFileSync(place('f'), 'front')
    command.kill('SIGINT')
    expect(await ended).toEqual([0, null])
    expect((await site.cairn(['fs', 'cat', ':/front/f'])).stdout).toBe('front')
    expect(isMounted()).toBe(false)
  })

  it.each(['SIGINT', 'SIGTERM'] as const)(
    '%s while a program is in it: told who that is, and unmounted when it has gone',
    async (signal) => {
      const used = await use()
      command.kill(signal)
      expect(await nextLine()).toMatch(new RegExp(`used by .*\\(pid ${process.pid}\\)`))
      await used.write('used')
      await used.close()
      expect(await ended).toEqual([0, null])
      expect((await site.cairn(['fs', 'cat', ':/front/used'])).stdout).toBe('used')
      expect(isMounted()).toBe(false)
    },
  )

  it('Ctrl-C twice while a program is in it: unmounted at once', async () => {
    const used = await use()
    command.kill('SIGINT')
    await nextLine()
    command.kill('SIGINT')
    expect(await ended).toEqual([130, null])
    expect(isMounted()).toBe(false)
    await used.close()
  })

  it('Ctrl-C twice while the server is away: what is left is named, and goes on with the next mount', async () => {
    const used = await use()
    await site.stopServer('SIGKILL')
    await used.write('left')
    await used.close()
    command.kill('SIGINT')
    expect(await nextLine()).toMatch(/^waiting for 1 operation .* to reach the server$/)
    command.kill('SIGINT')
    expect(await nextLine()).toContain(`Next: cairn mount -w demo :/front ${place()}`)
    expect(await ended).toEqual([130, null])
    expect(isMounted()).toBe(false)
    await site.startServer()
    await site.cairn(['mount', ':/front', place()])
    await site.cairn(['umount', place()])
    expect((await site.cairn(['fs', 'cat', ':/front/used'])).stdout).toBe('left')
  })
})
