import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { say, useJails } from './jail-fixture.ts'
import { noDiskLimit } from './local-setup.ts'

describe.skipIf(noDiskLimit !== undefined)(`a jail's disk (${noDiskLimit ?? 'as root'})`, () => {
  const jails = useJails()
  const limits = { diskBytes: 64 << 20 }

  it('a disk of limited size answers ENOSPC, wherever a program writes', async () => {
    const jail = await jails.make({ limits })
    const fill = 'dd if=/dev/zero of=$PLACE/large bs=1M count=100 2>&1; rm $PLACE/large'
    for (const place of ['/home/user', '/usr/local', '/etc', '/tmp']) {
      const { text } = await say(jail, `PLACE=${place}; ${fill}`, 'root')
      expect(text, place).toContain('No space left on device')
    }
    const { text } = await say(jail, 'echo fits > note && cat note')
    expect(text).toBe('fits\n')
  })

  it('a disk of limited size can be snapshotted, and is deleted with the jail', async () => {
    const jail = await jails.make({ limits })
    await say(jail, 'echo kept > note')
    const snapshot = join(jails.directory, 'snapshot')
    await jail.snapshot(snapshot)
    await jail.kill()
    expect(readFileSync('/proc/self/mountinfo', 'utf8')).not.toContain(jail.id)
    const next = await jails.make({ base: { snapshot }, limits })
    expect((await say(next, 'cat note')).text).toBe('kept\n')
    expect((await say(next, 'cat /proc/self/mountinfo')).text).not.toContain(jails.directory)
  })

  it('a disk that would be too small to use is refused', async () => {
    await expect(jails.make({ limits: { diskBytes: 1000 } })).rejects.toThrow(/want 67108864/)
  })
})
