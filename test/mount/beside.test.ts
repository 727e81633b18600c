import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { Cairn } from '@cairn/sdk'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'

/** What a program sees of a directory. */
function look(mount: SiteMount, directory: string): unknown {
  return readdirSync(mount.path(directory), { withFileTypes: true })
    .map((entry) => {
      const path = mount.path(`${directory}/${entry.name}`)
      const { size, mtimeNs, nlink, mode } = statSync(path, { bigint: true })
      const text = entry.isFile() ? readFileSync(path, 'utf8') : ''
      return { name: entry.name, size, mtimeNs, nlink, mode, text }
    })
    .sort((a, b) => (a.name < b.name ? -1 : 1))
}

describe.skipIf(noMount)('a mount that holds the lease beside another one', () => {
  let site: Site
  let holder: SiteMount
  let reader: SiteMount

  beforeAll(async () => {
    site = await Site.open()
    holder = await site.mount('/')
    await holder.sh('mkdir -p repo/deep; echo 1 > repo/one; echo 2 > repo/deep/two; mkdir other')
    await holder.drain()
    reader = await site.mount('/')
  })
  afterAll(() => site.close())

  const standing = async (mount: SiteMount): Promise<string> => (await mount.status()).standing

  it('keeps the lease when the other one comes, reads and waits', async () => {
    expect(await standing(holder)).toBe('lease')
    expect(await reader.sh('cat repo/one repo/deep/two; ls other')).toBe('1\n2\n')
    expect(await standing(holder)).toBe('lease')
    expect(await standing(reader)).toBe('shared')
  })

  it('shows the other one each change as soon as it is done', () => {
    for (let round = 0; round < 25; round++) {
      const name = `repo/file${round}`
      expect(existsSync(reader.path(name))).toBe(false)
      writeFileSync(holder.path(name), `text ${round}`)
      expect(readFileSync(reader.path(name), 'utf8')).toBe(`text ${round}`)
      writeFileSync(holder.path(name), `again ${round}`)
      expect(look(reader, 'repo')).toEqual(look(holder, 'repo'))
      renameSync(holder.path(name), holder.path('repo/last'))
      expect(existsSync(reader.path(name))).toBe(false)
      mkdirSync(holder.path(`repo/deep/d${round}`))
      writeFileSync(holder.path(`repo/deep/d${round}/f`), `${round}`)
      expect(look(reader, 'repo/deep')).toEqual(look(holder, 'repo/deep'))
      expect(readFileSync(reader.path(`repo/deep/d${round}/f`), 'utf8')).toBe(`${round}`)
      rmSync(holder.path(`repo/deep/d${round}`), { recursive: true })
      expect(existsSync(reader.path(`repo/deep/d${round}`))).toBe(false)
    }
  })

  it('a program stays in a directory that the holder changes around it', async () => {
    await reader.sh('touch repo/deep/ready')
    const waiting = 'while [ -e ready ]; do :; done'
    const inside = reader.sh(`cd repo/deep; mv ready here; touch ready; ${waiting}; /bin/pwd -P`)
    await expect.poll(() => existsSync(holder.path('repo/deep/here'))).toBe(true)
    await holder.sh(
      'mkdir repo/x; rm -r repo/x repo/deep/here; mkdir repo/deep/y; rm repo/deep/ready',
    )
    expect((await inside).trim()).toBe(reader.path('repo/deep'))
    await holder.sh('rmdir repo/deep/y')
  })

  it('keeps the lease beside changes through HTTP elsewhere, and sees them', async () => {
    const headers = { authorization: `Bearer ${site.key}` }
    for (let round = 0; round < 10; round++) {
      const url = `${site.url}/v1/workspaces/demo/files/other/http${round}`
      writeFileSync(holder.path(`repo/mine${round}`), 'mine')
      expect((await fetch(url, { method: 'PUT', headers, body: `${round}` })).ok).toBe(true)
      for (const mount of [holder, reader])
        expect(readFileSync(mount.path(`other/http${round}`), 'utf8')).toBe(`${round}`)
      expect(await standing(holder)).toBe('lease')
    }
    expect(look(reader, 'repo')).toEqual(look(holder, 'repo'))
  })

  it('keeps the lease when a change through HTTP makes directories', async () => {
    const headers = { authorization: `Bearer ${site.key}` }
    const recalls = async (): Promise<string | undefined> =>
      /^cairn_lease_recalls_total (\d+)$/m.exec(
        await (await fetch(`${site.url}/metrics`, { headers })).text(),
      )?.[1]
    const before = await recalls()
    expect(before).toBeDefined()
    const url = `${site.url}/v1/workspaces/demo/files/new/deep/er/file`
    writeFileSync(holder.path('repo/mine'), 'mine')
    expect((await fetch(url, { method: 'PUT', headers, body: 'text' })).ok).toBe(true)
    expect(await recalls()).toBe(before)
    expect(readFileSync(holder.path('new/deep/er/file'), 'utf8')).toBe('text')
  })

  it('an append through HTTP goes behind what the holder has not sent yet', async () => {
    const headers = { authorization: `Bearer ${site.key}` }
    const url = `${site.url}/v1/workspaces/demo/files/repo/log?append`
    for (let round = 0; round < 10; round++) {
      await holder.sh(`echo holder ${round} >> repo/log`)
      expect(
        (await fetch(url, { method: 'POST', headers, body: `http ${round}\n` })).status,
      ).toBeLessThan(300)
      await reader.sh(`echo reader ${round} >> repo/log`)
    }
    const lines = Array.from({ length: 10 }, (_, round) =>
      ['holder', 'http', 'reader'].map((who) => `${who} ${round}\n`).join(''),
    ).join('')
    for (const mount of [holder, reader]) expect(await mount.sh('cat repo/log')).toBe(lines)
  })

  it('a change through HTTP is decided on all that the holder has acknowledged', async () => {
    const cairn = new Cairn({ server: site.url, apiKey: site.key })
    const { files } = cairn.workspace('demo')
    for (let round = 0; round < 5; round++) {
      writeFileSync(holder.path('repo/fresh'), 'ab')
      await files.patch('/repo/fresh', 1, Buffer.from('c'))
      expect(readFileSync(holder.path('repo/fresh'), 'utf8')).toBe('ac')
      writeFileSync(holder.path('repo/again'), '')
      await files.move('/repo/again', '/other/again')
      rmSync(holder.path('repo/fresh'))
      await files.write('/repo/fresh', 'new', { ifAbsent: true })
      mkdirSync(holder.path('repo/full'))
      await files.write('/repo/full/file', '')
      rmSync(holder.path('repo/full'), { recursive: true })
      await files.mkdir('/repo/full')
      rmSync(holder.path('repo/full'), { recursive: true })
      rmSync(holder.path('repo/fresh'))
      rmSync(holder.path('other/again'))
      expect(await standing(holder)).toBe('lease')
    }
  })

  it('a change through HTTP goes where its path leads after what the holder has acknowledged', async () => {
    const cairn = new Cairn({ server: site.url, apiKey: site.key })
    const { files } = cairn.workspace('demo')
    for (let round = 0; round < 5; round++) {
      await holder.sh(`mkdir -p top/deep/er; sync top`)
      await holder.drain()
      renameSync(holder.path('top'), holder.path('old'))
      mkdirSync(holder.path('top/deep/er'), { recursive: true })
      await files.write('/top/deep/er/file', `${round}`)
      expect(readdirSync(holder.path('old/deep/er'))).toEqual([])
      expect(readFileSync(holder.path('top/deep/er/file'), 'utf8')).toBe(`${round}`)
      await holder.sh('rm -r top old')
    }
  })

  it('a second writer that works holds the lease, too', async () => {
    await expect
      .poll(
        async () => {
          for (let i = 0; i < 5; i++) writeFileSync(reader.path(`other/own${i}`), 'mine')
          return standing(reader)
        },
        { timeout: 30_000 },
      )
      .toBe('lease')
    expect(await standing(holder)).toBe('lease')
    writeFileSync(reader.path('other/own1'), 'new')
    expect(readFileSync(holder.path('other/own1'), 'utf8')).toBe('new')
    writeFileSync(holder.path('other/own2'), 'newer')
    expect(readFileSync(reader.path('other/own2'), 'utf8')).toBe('newer')
    expect(look(holder, 'other')).toEqual(look(reader, 'other'))
  })
})
