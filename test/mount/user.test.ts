import { execFile, spawnSync } from 'node:child_process'
import { chmodSync, chownSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { noMount, Site } from './fixture.ts'

const program = fileURLToPath(new URL('../../packages/cli/src/main.ts', import.meta.url))
/** A user without rights; fusermount3 wants the user to have a name. */
const uid = 65_534

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
  if (process.getuid?.() !== 0) return 'only root can act as another user'
  if (spawnSync('id', ['-un', `${uid}`]).status !== 0) return `no user has the id ${uid}`
  if (!existsSync('/usr/bin/fusermount3')) return 'there is no fusermount3'
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

  /** Unmounts whatever happens: it is impossible from outside the namespace. */
  const script = (user: number): string => `set -e
    ${cairn('mount', ':/', 'WORK')} > /dev/null
    trap "cd /; ${cairn('umount', 'WORK').replaceAll("'", '')} > /dev/null" EXIT
    cd WORK; ${roundTrip}
    echo kept > kept; echo user ${user}`

  it.skipIf(noUser)(`by fusermount3${noUser === undefined ? '' : ` (${noUser})`}`, async () => {
    chownSync(home, uid, uid)
    const device = join(site.directory, 'fuse')
    // Where /dev/fuse is root's alone, one for everybody takes its place, in a namespace of its own.
    const asUser = `
      mknod -m 666 ${device} c 10 229; mount --bind ${device} /dev/fuse
      exec setpriv --reuid ${uid} --regid ${uid} --clear-groups /bin/sh -c "$SCRIPT"`
    const SCRIPT = script(uid).replaceAll('WORK', join(home, 'work'))
    const seen = await run('unshare', ['-m', '/bin/sh', '-ec', asUser], { ...env, SCRIPT })
    expect(seen).toBe(`x\n640 2 ${uid}\nuser ${uid}\n`)
    expect((await site.cairn(['fs', 'cat', ':/kept'])).stdout).toBe('kept\n')
  })

  it.skipIf(noUser)(`with --allow-other${noUser === undefined ? '' : ` (${noUser})`}`, async () => {
    chownSync(home, uid, uid)
    const [device, configuration] = [
      join(site.directory, 'fuse'),
      join(site.directory, 'fuse.conf'),
    ]
    writeFileSync(configuration, 'user_allow_other\n')
    const work = join(home, 'work')
    const as = (user: number): string => `setpriv --reuid ${user} --regid ${user} --clear-groups`
    const text = `
      mknod -m 666 ${device} c 10 229; mount --bind ${device} /dev/fuse
      touch /etc/fuse.conf; mount --bind ${configuration} /etc/fuse.conf
      ${as(uid)} ${cairn('mount', '--allow-other', ':/', work)} > /dev/null
      trap "${as(uid)} ${cairn('umount', work).replaceAll("'", '')} > /dev/null" EXIT
      ${as(uid)} /bin/sh -ec 'cd ${work}; umask 022; echo open > open; echo closed > closed; chmod 600 closed; chmod 755 .'
      ${as(1234)} /bin/sh -c 'cd ${work}; cat open; cat closed || echo denied; echo x > new || echo denied' 2> /dev/null`
    expect(await run('unshare', ['-m', '/bin/sh', '-ec', text], env)).toBe('open\ndenied\ndenied\n')
  })

  describe.skipIf(noUser)(
    'a mount whose processes hang or died, while a program waits in it',
    () => {
      const states = [
        ['frozen', 'STOP'],
        ['killed', 'KILL'],
      ] as const
      const users = [
        ['an ordinary user', uid],
        ['root', 0],
      ] as const
      it.each(
        users.flatMap(([who, id]) => states.map(([state, signal]) => ({ who, id, state, signal }))),
      )('umount --force clears the $state one of $who', async ({ id, signal }) => {
        chownSync(home, id, id)
        const device = join(site.directory, 'fuse')
        const work = join(home, 'work')
        const SCRIPT = `
          ${cairn('mount', ':/', work)} > /dev/null
          echo before > ${work}/before
          pids=$(grep -o '"pid": *[0-9]*' ${home}/.cache/cairn/mounts/*/state.json | grep -o '[0-9]*$')
          kill -STOP $pids
          cat ${work}/asked 2> ${home}/said &
          waiting=$!
          kill -${signal} $pids
          timeout 60 ${cairn('umount', '--force', work)} > ${home}/told 2>&1 || cat ${home}/told
          wait $waiting || echo "cat has ended"
          ls -A ${work}; echo "the mount is gone"`
        const text = `
          mknod -m 666 ${device} c 10 229; mount --bind ${device} /dev/fuse
          exec setpriv --reuid ${id} --regid ${id} --clear-groups /bin/sh -c "$SCRIPT"`
        const seen = await run('unshare', ['-m', '/bin/sh', '-ec', text], { ...env, SCRIPT })
        expect(seen).toBe('cat has ended\nthe mount is gone\n')
      })

      it.each(users)('mount takes the place of the killed one of %s', async (_who, id) => {
        chownSync(home, id, id)
        const [device, work] = [join(site.directory, 'fuse'), join(home, 'work')]
        const SCRIPT = `
          ${cairn('mount', ':/', work)} > /dev/null
          echo before > ${work}/before
          kill -KILL $(grep -o '"pid": *[0-9]*' ${home}/.cache/cairn/mounts/*/state.json | grep -o '[0-9]*$')
          ${cairn('mount', ':/', work)} > /dev/null 2>&1
          cat ${work}/before; grep -c ${work} /proc/self/mounts
          ${cairn('umount', work)} > /dev/null
          ls -A ${work}; echo "nothing below"`
        const text = `
          mknod -m 666 ${device} c 10 229; mount --bind ${device} /dev/fuse
          exec setpriv --reuid ${id} --regid ${id} --clear-groups /bin/sh -c "$SCRIPT"`
        const seen = await run('unshare', ['-m', '/bin/sh', '-ec', text], { ...env, SCRIPT })
        expect(seen).toBe('before\n1\nnothing below\n')
      })
    },
  )

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
