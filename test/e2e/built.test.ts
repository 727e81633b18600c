import { execFileSync, spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { noMount } from '../mount/fixture.ts'

const root = fileURLToPath(new URL('../..', import.meta.url))
const bin = (name: string): string => `${root}node_modules/.bin/${name}`

/** Tests run on the sources; users run what was compiled from them. */
describe('the built packages', () => {
  beforeAll(() => {
    execFileSync(bin('tsc'), ['-b'], { cwd: root, stdio: 'inherit' })
  }, 120_000)

  it.each(['protocol', 'core', 'server', 'sdk', 'mount'])(
    '@cairn/%s loads',
    (name) => {
      const script = `const all = await import('@cairn/${name}'); console.log(Object.keys(all).length > 0)`
      const output = execFileSync(process.execPath, ['--input-type=module', '-e', script], {
        cwd: root,
      })
      expect(output.toString().trim()).toBe('true')
    },
    30_000,
  )

  it('the built packages are published with types, readme and engines, without maps, tests and notes of the compiler', () => {
    const words = ['pack', '--dry-run', '--json', '--ignore-scripts', '--workspaces']
    const out = execFileSync('npm', words, { cwd: root, stdio: ['ignore', 'pipe', 'ignore'] })
    const packed = JSON.parse(out.toString()) as { name: string; files: { path: string }[] }[]
    expect(packed).toHaveLength(8)
    for (const { name, files } of packed) {
      const paths = files.map(({ path }) => path)
      const manifest = join(root, 'packages', name.replace('@cairn/', ''), 'package.json')
      const { types, engines } = JSON.parse(readFileSync(manifest, 'utf8')) as Manifest
      expect(engines.node).toBe('>=22.15')
      expect(paths).toEqual(expect.arrayContaining(['README.md', 'package.json']))
      if (types !== undefined) expect(paths).toContain(types.replace('./', ''))
      expect(
        paths.filter((path) => /\.map$|\.test\.|tsbuildinfo|\.sha256$|^src/.test(path)),
      ).toEqual([])
    }
  })

  it.skipIf(noMount)(
    'the command serves and mounts, from anywhere, without a compiler',
    async () => {
      execFileSync(process.execPath, [`${root}packages/cli/scripts/bundle.mjs`], {
        stdio: 'inherit',
      })
      const home = mkdtempSync(join(tmpdir(), 'cairn-built-'))
      onTestFinished(() => rmSync(home, { recursive: true, force: true }))
      const program = `${root}packages/cli/bin/cairn.mjs`
      // No compiler is found, and no source is asked for.
      const options = { cwd: home, env: { HOME: home, PATH: '/nowhere' } }
      const cairn = (...args: string[]): string =>
        execFileSync(process.execPath, [program, ...args], { ...options, encoding: 'utf8' })
      const serve = ['serve', '--data', join(home, 'data'), '--listen', '127.0.0.1:0']
      const server = spawn(process.execPath, [program, ...serve], options)
      onTestFinished(() => void server.kill('SIGKILL'))
      await new Promise((resolve) => createInterface(server.stdout).once('line', resolve))
      expect(cairn('doctor')).toMatch(/^ok +transport +.*fuseio-/m)
      cairn('mount', ':/repo', 'work')
      onTestFinished(() => tryUnmount(cairn))
      writeFileSync(join(home, 'work', 'f'), 'built')
      expect(cairn('umount', 'work')).toContain('everything is at the server')
      expect(cairn('fs', 'cat', ':/repo/f')).toBe('built')
      expect(readFileSync('/proc/mounts', 'utf8')).not.toContain(home)
    },
  )
})

interface Manifest {
  readonly types?: string
  readonly engines: { readonly node: string }
}

function tryUnmount(cairn: (...args: string[]) => string): void {
  try {
    cairn('umount', '--force', 'work')
  } catch {
    // It is unmounted already.
  }
}
