// What users get: packed, installed by plain npm in an empty folder, on the oldest and the newest Node, without a compiler.
import { execFileSync, spawnSync } from 'node:child_process'
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { noMount } from '../mount/fixture.ts'
import { root } from './machine.ts'

const packages = ['protocol', 'core', 'server', 'sdk', 'agents', 'mount', 'sandbox', 'cli']
/** Packing and installing takes minutes. */
const isSoak = process.env['CAIRN_RUNS'] !== undefined

describe.skipIf(!isSoak)('installed packages (needs npm run test:soak)', () => {
  let directory = ''
  let app = ''

  beforeAll(() => {
    directory = mkdtempSync(join(tmpdir(), 'cairn-packages-'))
    const run = (...args: string[]): unknown =>
      execFileSync('npm', args, { cwd: root, stdio: ['ignore', 'ignore', 'inherit'] })
    run('run', 'build:native')
    for (const name of packages)
      run('pack', '-w', `packages/${name}`, '--pack-destination', directory)
    app = join(directory, 'app')
    mkdirSync(app)
    writeFileSync(join(app, 'package.json'), '{"type":"module"}')
    const tarballs = readdirSync(directory).filter((name) => name.endsWith('.tgz'))
    install(...tarballs.map((name) => join(directory, name)))
  }, 1_800_000)
  afterAll(() => rmSync(directory, { recursive: true, force: true }))

  function install(...what: string[]): void {
    execFileSync('npm', ['install', '--no-audit', '--no-fund', ...what], {
      cwd: app,
      stdio: ['ignore', 'ignore', 'inherit'],
    })
  }

  /** That Node, from npm, in a folder of its own. */
  function nodeOf(version: string): string {
    const folder = join(directory, `node-${version}`)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'package.json'), '{}')
    execFileSync('npm', ['install', '--no-audit', '--no-fund', `node@${version}`], { cwd: folder })
    return join(folder, 'node_modules/node/bin/node')
  }

  const command = (): string => join(app, 'node_modules/@cairn/cli/bin/cairn.mjs')

  it.skipIf(noMount).each(['22.15.0', '22', '24'])(
    'Node %s: up, a file, sandbox, down',
    (version) => {
      const node = nodeOf(version)
      const home = mkdtempSync(join(tmpdir(), 'cairn-installed-'))
      const env = { HOME: home, PATH: '/usr/sbin:/sbin:/bin', CC: '/nowhere/cc' }
      const cairn = (...args: string[]): string =>
        execFileSync(node, [command(), ...args], { cwd: home, env, encoding: 'utf8' })
      onTestFinished(() => {
        spawnSync(node, [command(), 'down', '--force'], { env })
        rmSync(home, { recursive: true, force: true })
      })
      cairn('up', 'work', '--listen', '127.0.0.1:0')
      writeFileSync(join(home, 'work/a'), version)
      expect(cairn('doctor')).toMatch(/^ok +transport +.*fuseio-linux-\w+-glibc\.node/m)
      expect(runInJail(node, env)).toBe('from a jail\n')
      cairn('down')
      cairn('up', 'work', '--listen', '127.0.0.1:0')
      expect(readFileSync(join(home, 'work/a'), 'utf8')).toBe(version)
    },
    600_000,
  )

  /** A jail needs the helper in C, which was compiled for this machine on another one. */
  function runInJail(node: string, env: NodeJS.ProcessEnv): string {
    const script = `
      import { LocalSandbox } from '@cairn/sandbox'
      const sandbox = new LocalSandbox({})
      const { stdout } = await sandbox.exec('echo from a jail')
      process.stdout.write(stdout)
      await sandbox.dispose()`
    writeFileSync(join(app, 'jail.mjs'), script)
    return execFileSync(node, ['jail.mjs'], { cwd: app, env, encoding: 'utf8' })
  }

  it('Node 20: one sentence', () => {
    const ran = spawnSync(nodeOf('20'), [command(), '--version'], { encoding: 'utf8' })
    expect([ran.status, ran.stderr]).toEqual([
      2,
      expect.stringMatching(/^cairn: needs Node 22\.15 or newer, and this is 20\.[\d.]+\. .*\n$/),
    ])
  }, 600_000)

  it.each(['5.4', 'latest'])(
    'TypeScript %s reads the types, as node16 and as bundler',
    (version) => {
      install(`typescript@${version}`, '@types/node@22')
      writeFileSync(join(app, 'use.ts'), everyEntry)
      writeFileSync(join(app, 'sdk.ts'), sdkAlone)
      const modes = [
        ['--module', 'node16', '--moduleResolution', 'node16'],
        ['--module', 'esnext', '--moduleResolution', 'bundler'],
      ]
      for (const mode of modes) {
        const words = ['--noEmit', '--strict', '--target', 'es2022', '--types', 'node', ...mode]
        const tsc = join(app, 'node_modules/typescript/bin/tsc')
        // Others that the sandboxes depend on need a newer TypeScript inside; the SDK does not.
        for (const files of [['--skipLibCheck', 'use.ts'], ['sdk.ts']]) {
          const all = [tsc, ...words, ...files]
          const ran = spawnSync(process.execPath, all, { cwd: app, encoding: 'utf8' })
          expect(ran.stdout).toBe('')
        }
      }
    },
    600_000,
  )
})

/** A type that does not resolve is `any`, and then an expected error is missing. */
const everyEntry = `
import { Cairn, CairnError, type FileStat } from '@cairn/sdk'
import { serve, type ServeOptions } from '@cairn/server'
import { LocalSandbox } from '@cairn/sandbox'
import { isToken } from '@cairn/protocol'

const cairn = new Cairn({ server: 'http://127.0.0.1:7070', apiKey: 'k' })
// @ts-expect-error a number is no server
new Cairn({ server: 7 })
export const stat: Promise<FileStat> = cairn.workspace('w').files.stat('/a')
// @ts-expect-error a stat is no number
export const wrong: Promise<number> = cairn.workspace('w').files.stat('/a')
const options: ServeOptions = { data: 'd', listen: 'l' }
// @ts-expect-error a server needs options
export const server = [serve(options), serve()]
export const rest = [new LocalSandbox({}), CairnError, isToken]
`

const sdkAlone = `
import { Cairn } from '@cairn/sdk'
const { files } = new Cairn({ server: 'http://127.0.0.1:7070', apiKey: 'k' }).workspace('w')
export const bytes: Promise<Uint8Array> = files.read('/a')
// @ts-expect-error bytes are no text
export const wrong: Promise<string> = files.read('/a')
`
