// What the README shows, on a Debian with nothing of ours: once with one file and no Node, once with Node and our
// packages and no compiler. The network is a loopback, so nothing is fetched either.
import { execFileSync } from 'node:child_process'
import {
  copyFileSync,
  cpSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { play, transcript } from '../../scripts/session/play.mjs'
import { alone, readmeSession, sessionFile } from '../../scripts/session/readme.mjs'
import { textOf, withoutNumbers } from '../../scripts/session/render.mjs'
import { noMount } from '../mount/fixture.ts'
import { root, whyNoDebian } from './machine.ts'

const packages = ['protocol', 'core', 'server', 'sdk', 'agents', 'mount', 'sandbox', 'cli']
const readme = readFileSync(join(root, 'README.md'), 'utf8')
const recorded = textOf(readFileSync(sessionFile, 'utf8'))

describe.skipIf(noMount || whyNoDebian !== undefined)(
  `the README on a new Debian (${whyNoDebian ?? 'as root'})`,
  () => {
    let debian = ''
    beforeAll(() => {
      debian = mkdtempSync(join(tmpdir(), 'cairn-debian-'))
      const words = ['--mode=root', '--variant=minbase', '--format=directory', 'bookworm', debian]
      run('mmdebstrap', words)
    }, 1_800_000)
    afterAll(() => rmSync(debian, { recursive: true, force: true }))

    /** Types the block there, and says what the terminal shows. */
    function type(block: string, path: string): string[] {
      const mounts = `mount -t proc proc ${debian}/proc && mount --rbind /dev ${debian}/dev`
      const enter = [...alone, 'sh', '-c', `${mounts} && chroot ${debian} "$@"; exit $?`, 'sh']
      const env = { PATH: `${path}/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin` }
      return transcript(play(block, { home: '/root', env, enter }))
    }

    it('one file and no Node: the shell block prints what the README shows', () => {
      run('npm', ['run', 'build:executable'])
      const made = `packages/cli/dist/executable/cairn-linux-${process.arch}`
      copyFileSync(join(root, made), join(debian, 'usr/local/bin/cairn'))
      const shown = type(readmeSession(readme), '')
      rmSync(join(debian, 'usr/local/bin/cairn'))
      rmSync(join(debian, 'root'), { recursive: true })
      mkdirSync(join(debian, 'root'))
      expect(withoutNumbers(shown)).toBe(withoutNumbers(recorded))
    }, 1_800_000)

    it('Node and the packages: the shell block does so, too, and the TypeScript runs', () => {
      installNode()
      installPackages()
      const [, program = ''] = /^```ts run\n([^]*?)^```/m.exec(readme) ?? []
      writeFileSync(join(debian, 'root/app/program.mts'), program)
      const typescript = 'CAIRN_API_KEY=$(cat ~/.cairn/data/owner-key) node app/program.mts\n'
      const block = readmeSession(readme)
      const shown = type(`${block}${typescript}`, '/root/app/node_modules/.bin:')
      const at = shown.indexOf(`$ ${typescript.trim()}`)
      expect(withoutNumbers(shown.slice(0, at))).toBe(withoutNumbers(recorded))
      expect(shown.slice(at + 1)).toEqual(['/hello.txt 7', '/notes 1'])
    }, 1_800_000)

    /** As its own archive has it: node and npm. */
    function installNode(): void {
      const local = join(debian, 'usr/local')
      const npm = join(
        execFileSync('npm', ['root', '--global'], { encoding: 'utf8' }).trim(),
        'npm',
      )
      copyFileSync(join(root, 'node_modules/node/bin/node'), join(local, 'bin/node'))
      cpSync(npm, join(local, 'lib/node_modules/npm'), { recursive: true, dereference: true })
      symlinkSync('../lib/node_modules/npm/bin/npm-cli.js', join(local, 'bin/npm'))
    }

    /** Packed, and then installed there by npm from a cache that the first installation filled. */
    function installPackages(): void {
      const tarballs = join(debian, 'tarballs')
      mkdirSync(tarballs)
      run('npm', ['run', 'build:native'])
      for (const name of packages)
        run('npm', ['pack', '-w', `packages/${name}`, '--pack-destination', tarballs])
      const files = readdirSync(tarballs).map((name) => `/tarballs/${name}`)
      const cache = join(debian, 'cache')
      const scratch = mkdtempSync(join(tmpdir(), 'cairn-fill-'))
      writeFileSync(join(scratch, 'package.json'), '{}')
      const words = ['install', '--no-audit', '--no-fund', '--ignore-scripts']
      const here = files.map((file) => join(debian, file))
      run('npm', [...words, '--cache', cache, ...here], scratch)
      rmSync(scratch, { recursive: true })
      mkdirSync(join(debian, 'root/app'))
      writeFileSync(join(debian, 'root/app/package.json'), '{"type":"module"}')
      const registry = execFileSync('npm', ['config', 'get', 'registry'], {
        encoding: 'utf8',
      }).trim()
      const offline = [...words, '--offline', '--cache', '/cache', '--registry', registry, ...files]
      type(`cd app && npm ${offline.join(' ')} >/dev/null`, '')
    }
  },
)

function run(file: string, args: readonly string[], cwd = root): void {
  execFileSync(file, args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}
