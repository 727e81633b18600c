// A token that may write and not delete, and the tools that save by replacing.
import { existsSync, readFileSync, unlinkSync, writeFileSync } from 'node:fs'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { noMount, Site, type SiteMount } from './fixture.ts'
import { keyFile } from '@cairn/server/testing/key-file'

describe.skipIf(noMount)('a mount under a token without delete', { timeout: 60_000 }, () => {
  let site: Site
  let agent: SiteMount

  beforeAll(async () => {
    site = await Site.open()
    const owner = await site.mount('/')
    writeFileSync(owner.path('theirs.txt'), 'one\ntwo\n')
    await owner.unmount()
    const options = ['--ttl', '1h', '--allow', '/:read,list,search,write']
    const issued = await site.cairn(['token', 'issue', 'agent', '--token-only', ...options])
    agent = await site.mount(
      '/',
      '--server',
      site.url,
      '--api-key-file',
      keyFile(issued.stdout.trim()),
    )
  }, 60_000)
  afterAll(() => site.close(), 120_000)

  it('sed -i edits a file of others, and leaves nothing beside it', async () => {
    await agent.sh('sed -i s/one/uno/ theirs.txt')
    expect(readFileSync(agent.path('theirs.txt'), 'utf8')).toBe('uno\ntwo\n')
    expect(await agent.sh('ls')).toBe('theirs.txt\n')
    expect(() => unlinkSync(agent.path('theirs.txt'))).toThrow(/EACCES/)
    expect(existsSync(agent.path('theirs.txt'))).toBe(true)
  })

  it('mv and rm work for what it made itself', async () => {
    await agent.sh('echo x > a && mv a b && mkdir d && mv b d/ && mv d e && cat e/b')
    await agent.sh('rm -r e')
    expect(await agent.sh('ls')).toBe('theirs.txt\n')
    await expect(agent.sh('mv theirs.txt gone')).rejects.toThrow()
  })

  it('git init and a commit work', async () => {
    await agent.sh('git init -q repo && cd repo && echo x > f && git add f')
    await agent.sh('cd repo && git -c user.name=a -c user.email=a@b commit -qm one')
    expect(await agent.sh('cd repo && git fsck --strict && git status --porcelain')).toBe('')
    expect(await agent.sh('find repo -name "*.lock" -o -name "tmp_*"')).toBe('')
  })
})
