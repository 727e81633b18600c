import { describe, expect, it } from 'vitest'
import { runCli, temporaryDirectory } from '../test/run-cli.ts'
import { findInvocation } from './program.ts'
import { version } from './version.ts'
import manifest from '../package.json' with { type: 'json' }

describe('findInvocation', () => {
  it.each([
    [['fs', 'ls', '-l', ':/'], 'fs ls', ['-l', ':/']],
    [['--json', 'fs', 'ls'], 'fs ls', ['--json']],
    [['fs', '--json', 'ls', ':/'], 'fs ls', ['--json', ':/']],
    [['version'], 'version', []],
    [['serve', 'ls'], 'serve', ['ls']],
    [['ctx'], 'ctx show', []],
    [['ctx', '--help'], 'ctx', ['--help']],
    [['ctx', 'list'], 'ctx ls', []],
    [['fs'], 'fs', []],
    [
      ['fs', 'layer', 'create', ':/repo', '--name', 'a'],
      'fs layer create',
      [':/repo', '--name', 'a'],
    ],
    [['fs', 'layer', '--json', 'ls'], 'fs layer list', ['--json']],
    [['fs', 'layer'], 'fs layer', []],
    [[], '', []],
  ])('%j is %s', (argv, name, tokens) => {
    expect(findInvocation(argv)).toEqual({ name, tokens })
  })

  it.each([
    [['sf', 'ls'], 'cannot run cairn sf: there is no such command'],
    [['fs', 'lss'], 'See cairn fs --help. Did you mean cairn fs ls?'],
    [
      ['fs', 'layer', 'comit', 'a'],
      'See cairn fs layer --help. Did you mean cairn fs layer commit?',
    ],
    [['toString'], 'there is no such command'],
    [['ls'], 'Did you mean cairn fs ls?'],
    [['layer', 'ls'], 'Did you mean cairn fs layer?'],
    [['commit', 'try'], 'Did you mean cairn fs layer commit?'],
    [['fs', 'rmdir', ':/a'], 'Did you mean cairn fs rm?'],
    [['rmdir', ':/a'], 'Did you mean cairn fs rm?'],
    [['ws', 'use', 'a'], 'Did you mean cairn ctx use CONTEXT --workspace NAME?'],
  ])('%j: %s', (argv, message) => {
    expect(() => findInvocation(argv)).toThrow(message)
  })
})

describe('cairn', () => {
  it.each([[[]], [['--help']], [['-h']], [['help']]])('%j prints the overview', async (argv) => {
    const { stdout, exitCode } = await runCli(argv, { home: temporaryDirectory() })
    expect(stdout).toContain('Usage: cairn COMMAND')
    expect(exitCode).toBe(0)
  })

  it.each([[['fs']], [['fs', '--help']], [['help', 'fs']]])('%j prints the verbs', async (argv) => {
    const { stdout } = await runCli(argv, { home: temporaryDirectory() })
    expect(stdout).toContain('Usage: cairn fs COMMAND')
    expect(stdout).toContain('hardlink')
  })

  it.each([[['fs', 'cp', '--help']], [['--help', 'fs', 'cp', 'x']], [['help', 'fs', 'cp']]])(
    '%j prints the help of the command',
    async (argv) => {
      const { stdout } = await runCli(argv, { home: temporaryDirectory() })
      expect(stdout).toContain('Usage: cairn fs cp [OPTIONS] SOURCE TARGET')
    },
  )

  it.each([
    [
      ['--verion'],
      'cannot take the option --verion: no command was named. See cairn --help. Did you mean --version?',
    ],
    [['fs', '-l'], 'cannot take the option -l: no command was named. See cairn fs --help.'],
  ])('%j: no command to take it', async (argv, message) => {
    const { stderr, exitCode } = await runCli(argv, { home: temporaryDirectory() })
    expect(stderr).toContain(message)
    expect(exitCode).toBe(2)
  })

  it('after -- a word is no flag', async () => {
    const ran = await runCli(['ctx', 'use', '--', '--help'], { home: temporaryDirectory() })
    expect(ran.stderr).toContain('cannot use the context --help')
  })

  it('--version is that of the package', async () => {
    expect(version).toBe(manifest.version)
    const { stdout } = await runCli(['--version'], { home: temporaryDirectory() })
    expect(stdout).toBe(`${version}\n`)
  })

  it('a flag that is no command is told', async () => {
    const ran = await runCli(['--verbose'], { home: temporaryDirectory() })
    expect(ran).toMatchObject({ exitCode: 2, stdout: '' })
  })
})
