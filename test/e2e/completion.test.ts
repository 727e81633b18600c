// What Tab offers, in the real shells.
import { execFile, spawnSync } from 'node:child_process'
import { mkdirSync, writeFileSync } from 'node:fs'
import { delimiter, join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { keyFile } from '@cairn/server/testing/key-file'
import { useCairn } from './run-cairn.ts'
import { startServer, type TestServer } from './start-server.ts'

const cairn = useCairn()
let server: TestServer

beforeAll(async () => {
  server = await startServer()
  const { workspaces } = server.cairn
  for (const name of ['website', 'webshop']) await workspaces.create(name)
  const workspace = server.cairn.workspace('website')
  await workspace.files.write('/src/auth.ts', '')
  await workspace.files.write('/setup.md', '')
  await workspace.layers.create('/', { name: 'fix-auth' })
  await workspace.layer('fix-auth').files.write('/secret.txt', '')
  const add = ['--server', server.url, '--api-key-file', keyFile(server.apiKey), '-w', 'website']
  await cairn.text('ctx', 'add', '--name', 'prod', ...add)
  const bin = join(cairn.home(), 'bin')
  mkdirSync(bin)
  const words = cairn.words().map((word) => `'${word}'`)
  writeFileSync(join(bin, 'cairn'), `#!/bin/sh\nexec ${words.join(' ')} "$@"\n`, { mode: 0o755 })
  for (const shell of ['bash', 'zsh', 'fish'])
    writeFileSync(join(cairn.home(), shell), await cairn.text('completion', shell))
})
afterAll(() => server.stop())

/** What is typed, and what the last word may become. */
const cases: readonly (readonly [line: string, offered: readonly string[]])[] = [
  ['cairn fs ls :/s', [':/setup.md', ':/src/']],
  ['cairn fs cat :/src/', [':/src/auth.ts']],
  ['cairn fs cat prod:/src/', ['prod:/src/auth.ts']],
  ['cairn fs ls --layer fix-auth :/se', [':/secret.txt', ':/setup.md']],
  ['cairn fs layer diff f', ['fix-auth']],
  ['cairn fs log --layer f', ['fix-auth']],
  ['cairn fs ls -w web', ['webshop', 'website']],
  ['cairn ws rm webs', ['webshop', 'website']],
  ['cairn ctx use p', ['prod']],
  ['cairn fs ls --context p', ['prod']],
]

/** The server is in this process, so that it must not wait. */
async function run(shell: string, script: string): Promise<string[]> {
  const path = `${join(cairn.home(), 'bin')}${delimiter}${process.env['PATH']}`
  const env = { HOME: cairn.home(), PATH: path }
  const { stdout } = await promisify(execFile)(shell, ['-c', script], { env, cwd: cairn.home() })
  return stdout.split('\n').filter((line) => line !== '')
}

const lacks = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).error !== undefined

describe('bash', () => {
  it.each(cases)('%s', async (line, offered) => {
    // As bash cuts the words, with colons on their own, and replaces the last piece.
    const words = line.replaceAll(':', ' : ').split(/\s+/)
    const quoted = words.map((word) => `'${word}'`).join(' ')
    const found = await run(
      'bash',
      `source ./bash; COMP_LINE='${line}' COMP_POINT=${line.length} COMP_CWORD=${words.length - 1}
       COMP_WORDS=(${quoted}); _cairn; printf '%s\\n' "\${COMPREPLY[@]}"`,
    )
    const begun = line.slice(line.lastIndexOf(' ') + 1).replace(/[^:]*$/, '')
    expect(found.map((each) => begun + each)).toEqual(offered)
  })

  it('what no server knows is left to the shell', async () => {
    const line = 'cairn fs cp ./no'
    const script = `source ./bash; COMP_LINE='${line}' COMP_POINT=${line.length} COMP_CWORD=3; COMP_WORDS=(${line}); _cairn; echo "\${#COMPREPLY[@]}"`
    expect(await run('bash', script)).toEqual(['0'])
  })
})

describe.skipIf(lacks('fish'))('fish, where it is installed', () => {
  it.each(cases)('%s', async (line, offered) => {
    const found = await run('fish', `source ./fish; complete -C '${line}'`)
    const names = found.map((each) => each.replace(/\t.*$/, ''))
    expect(names).toEqual(expect.arrayContaining([...offered]))
  })
})

describe.skipIf(lacks('zsh'))('zsh, where it is installed', () => {
  it('reads the script', async () => {
    const loads = 'autoload -U compinit; compinit -u -d dump; source ./zsh'
    expect(await run('zsh', `${loads}; print $+functions[_cairn_values]`)).toEqual(['1'])
  })
})
