import { execFileSync, spawnSync } from 'node:child_process'
import { chownSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createJail } from '@cairn/sandbox'
import { noJail } from './local-setup.ts'

const uid = 65_534
const asUser = ['--reuid', `${uid}`, '--regid', `${uid}`, '--clear-groups']
const noUser: string | undefined =
  noJail ??
  (spawnSync('setpriv', [...asUser, 'unshare', '-Urm', 'true']).status === 0
    ? undefined
    : 'ordinary users have no user namespaces here')

describe.skipIf(noUser !== undefined)(
  `a jail of an ordinary user (${noUser ?? 'possible'})`,
  () => {
    it('a jail of an ordinary user is a jail with one user, without limits', async () => {
      const home = mkdtempSync(join(tmpdir(), 'cairn-user-'))
      onTestFinished(() => rmSync(home, { recursive: true, force: true }))
      chownSync(home, uid, uid)
      const directory = join(home, 'jails')
      mkdirSync(directory)
      chownSync(directory, uid, uid)
      await buildHelper(home)
      const program = fileURLToPath(new URL('user-child.ts', import.meta.url))
      const words = [process.execPath, '--conditions=source', program, directory]
      const said = execFileSync('setpriv', [...asUser, ...words], {
        env: { HOME: home, PATH: process.env['PATH'] },
        timeout: 50_000,
      })
      expect(JSON.parse(said.toString())).toEqual({
        limited: expect.stringContaining("cannot limit a jail's memory") as unknown,
        who: '0\n0\n/home/user',
        processes: expect.stringMatching(/^[3-8]$/) as unknown,
        data: '/opt:\n\n/root:',
        owner: '0',
        ended: { code: null, signal: 'SIGTERM' },
        kept: 'kept\n',
      })
      expect(readdirSync(directory).filter((name) => /^[0-9a-f]{20}$/.test(name))).toEqual([])
    })
  },
)

/** A user who may not write beside the sources finds it built. */
async function buildHelper(directory: string): Promise<void> {
  const jail = await createJail({ directory: join(directory, 'root') })
  await jail.kill()
}
