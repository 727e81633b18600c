import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from './fixture.ts'

const program = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
/** Somebody with no rights and no name. */
const uid = 54_321

const roundTrip = `
  mkdir d; echo x > d/f; ln d/f d/g; chmod 640 d/f; mv d e; cat e/f; stat -c '%a %h %u' e/f; rm -r e; ls -A`

function run(file: string, args: string[], env: NodeJS.ProcessEnv): Promise<string> {
  return new Promise((resolve) => {
    execFile(file, args, { env, cwd: '/' }, (_error, stdout, stderr) => resolve(stdout + stderr))
  })
}

function cairn(...args: string[]): string {
  const words = [process.execPath, '--conditions=source', '--disable-warning=ExperimentalWarning']
  return [...words, program, ...args].map((word) => `'${word}'`).join(' ')
}

const noUser: string | undefined = (() => {
  if (noMount !== undefined) return noMount
  if (process.getuid?.() !== 0) return 'only root can act as somebody else'
  if (!existsSync('/usr/bin/fusermount3')) return 'there is no fusermount3'
  if ((statSync('/dev/fuse').mode & 0o006) !== 0o006) return '/dev/fuse is not for everybody'
  return undefined
})()

const noNamespace: string | undefined =
  noMount ??
  (spawnSync('unshare', ['-Urm', 'true']).status === 0 ? undefined : 'no user namespaces here')

describe('mounts of ordinary users', () => {
  let site: Site
  let home: string
  let env: NodeJS.ProcessEnv

  beforeEach(async () => {
    site = await Site.open()
    chmodSync(site.directory, 0o755)
    home = join(site.directory, 'user')
    mkdirSync(home)
    env = {
      ...process.env,
      HOME: home,
      CAIRN_SERVER: site.url,
      CAIRN_API_KEY: site.key,
      CAIRN_WORKSPACE: 'demo',
    }
  })
  afterEach(() => site.close())

  const script = (user: number): string => `
    ${cairn('mount', ':/', 'WORK')} > /dev/null && cd WORK && ${roundTrip}
    echo kept > kept; cd /; ${cairn('umount', 'WORK')} > /dev/null; ls WORK; echo user ${user}`

  it.skipIf(noUser)(`by fusermount3${noUser === undefined ? '' : ` (${noUser})`}`, async () => {
    chownSync(home, uid, uid)
    const text = script(uid).replaceAll('WORK', join(home, 'work'))
    const words = [
      '--reuid',
      `${uid}`,
      '--regid',
      `${uid}`,
      '--clear-groups',
      '/bin/sh',
      '-c',
      text,
    ]
    expect(await run('setpriv', words, env)).toBe(`x\n640 2 ${uid}\nuser ${uid}\n`)
    expect((await site.cairn(['fs', 'cat', ':/kept'])).stdout).toBe('kept\n')
  })

  it.skipIf(noNamespace)(
    `in a user namespace${noNamespace === undefined ? '' : ` (${noNamespace})`}`,
    async () => {
      const text = script(0).replaceAll('WORK', join(home, 'work'))
      expect(await run('unshare', ['-Urm', '/bin/sh', '-c', text], env)).toBe(
        'x\n640 2 0\nuser 0\n',
      )
      expect((await site.cairn(['fs', 'cat', ':/kept'])).stdout).toBe('kept\n')
    },
  )
})
