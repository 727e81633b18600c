// A pack whose command, daemon or server is killed: all of it is there under its name, or none.
import { once } from 'node:events'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

const files = 400

describe.skipIf(noMount)('a pack that is interrupted', () => {
  let site: Site
  let mount: SiteMount

  beforeEach(async () => {
    site = await Site.open()
    mount = await site.mount('/', '--profile', 'portable')
    await mount.sh(
      `mkdir -p repo/node_modules; for i in $(seq ${files}); do echo $i > repo/node_modules/f$i; done`,
    )
  })
  afterEach(() => site.close())

  const localOps = async (): Promise<number> => (await mount.status()).onlyHere!.local.ops
  /** How many files the checkpoint has; undefined where it is not there. */
  const packed = async (label: string): Promise<number | undefined> => {
    const { code, stdout } = await site.tryCairn(['fs', 'ls', '--at', label, ':/repo/node_modules'])
    return code === 0 ? stdout.split('\n').filter((line) => line !== '').length : undefined
  }
  /** Where the pack is when something ends. */
  const moments: Readonly<Record<string, () => Promise<void>>> = {
    'at once': async () => {},
    'while it sends': async () => expect.poll(localOps, { timeout: 20_000 }).toBe(0),
  }
  const victims: Readonly<Record<string, (pid: number) => Promise<void>>> = {
    'its command': async (pid) => void process.kill(pid, 'SIGKILL'),
    'its daemon': async () => void process.kill(mount.processes().daemon, 'SIGKILL'),
    'its server': async () => {
      await site.stopServer('SIGKILL')
      await site.startServer()
    },
  }
  const cases = Object.keys(victims).flatMap((victim) =>
    Object.keys(moments).map((moment) => [victim, moment] as const),
  )

  it.each(cases)(
    '%s is killed %s: whole or absent, and the next one is whole',
    async (victim, moment) => {
      const words = ['pack', '--mount', mount.directory, '--label', 'deps']
      const pack = site.startCairn(words, mount.home)
      const ended = once(pack, 'exit')
      await moments[moment]!()
      await victims[victim]!(pack.pid!)
      await ended
      expect([undefined, files]).toContain(await packed('deps'))
      await site.cairn(['pack', '--mount', mount.directory, '--label', 'again'], mount.home)
      expect(await packed('again')).toBe(files)
      expect(await mount.sh('cat repo/node_modules/f400; ls repo/node_modules | wc -l')).toBe(
        `400\n${files}\n`,
      )
      expect((await mount.status()).rescues).toEqual([])
    },
  )
})
