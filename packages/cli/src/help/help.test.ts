import { execFileSync, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { allOptions, parseArguments } from '../arguments/parse.ts'
import { aliases, commands, loadCommand, loadCommands, nouns } from '../commands.ts'
import { findInvocation } from '../program.ts'
import { renderBash } from './completion/bash.ts'
import { renderFish } from './completion/fish.ts'
import { renderZsh } from './completion/zsh.ts'
import { renderHelp } from './render-help.ts'
import { renderReference } from './render-reference.ts'

const reference = new URL('../../../../docs/reference/cli.md', import.meta.url)

describe.each(Object.keys(commands))('cairn %s', (name) => {
  it('its help names every argument and option, and has an example', async () => {
    const { spec } = await loadCommand(name)
    const help = await renderHelp(name)
    for (const option of Object.keys(allOptions(spec))) expect(help).toContain(`--${option}`)
    for (const argument of Object.keys(spec.arguments))
      expect(help).toContain(argument.toUpperCase())
    expect(help).toContain('Examples:')
  })

  it('its help fits 100 columns, but for commands to copy', async () => {
    const { spec } = await loadCommand(name)
    const copied = spec.examples.map(({ command }) => command)
    const wide = (await renderHelp(name)).split('\n').filter((line) => line.length > 100)
    expect(wide.filter((line) => !copied.includes(line.trim()))).toEqual([])
  })

  /** Up to the end of a pipe's part, or of what is substituted. */
  function wordsOf(command: string): string[] {
    const text = command.slice(command.indexOf('cairn ') + 'cairn '.length)
    const words = text.match(/(?:"[^"]*"|'[^']*'|[^\s'"|)])+|[|)]/g) ?? []
    const end = words.findIndex((word) => word === '|' || word === ')')
    return words
      .slice(0, end === -1 ? undefined : end)
      .map((word) => word.replaceAll(/^['"]|['"]$/g, ''))
  }

  it('its examples are commands that can be read', async () => {
    const { spec } = await loadCommand(name)
    for (const { command } of spec.examples) {
      expect(command).toContain(`cairn ${name}`)
      const { name: found, tokens } = findInvocation(wordsOf(command))
      expect(() => parseArguments(found, spec, tokens)).not.toThrow()
    }
  })

  it('no two options share a letter, and none hides behind joined letters', async () => {
    const options = Object.entries(allOptions((await loadCommand(name)).spec))
    const letters = options.flatMap(([, { short }]) => short ?? [])
    expect(new Set(letters).size).toBe(letters.length)
    for (const [option] of options) expect(letters).not.toContain(option)
  })

  it('only the last argument takes several, and what may be missing comes last', async () => {
    const specs = Object.values((await loadCommand(name)).spec.arguments)
    for (const [index, { many, optional }] of specs.entries()) {
      if (many) expect(index).toBe(specs.length - 1)
      if (optional) expect(specs.slice(index).every((other) => other.optional)).toBe(true)
    }
  })
})

it.each(['', ...Object.keys(nouns)])('the help of %j fits 100 columns', async (noun) => {
  const examples = (await loadCommands()).flatMap(({ command }) => command.spec.examples)
  const copied = examples.map(({ command }) => command)
  const wide = (await renderHelp(noun)).split('\n').filter((line) => line.length > 100)
  expect(wide.filter((line) => !copied.includes(line.trim()))).toEqual([])
})

it('docs/reference/cli.md is what the commands say (else: npm run reference -w packages/cli)', async () => {
  expect(readFileSync(reference, 'utf8')).toBe(await renderReference())
})

it('every other word leads to a command', () => {
  for (const name of Object.values(aliases)) expect(Object.keys(commands)).toContain(name)
})

it('only ctx add, which ends at once, takes an owner key as an argument: other users of the machine can see it', async () => {
  const taking = (await loadCommands()).filter(({ command }) => 'api-key' in command.spec.options)
  expect(taking.map(({ name }) => name)).toEqual(['ctx add'])
})

describe('completion', () => {
  const complete = async (...words: string[]): Promise<string[]> => {
    const script = renderBash(await loadCommands())
    const line = words.map((word) => `'${word}'`).join(' ')
    const ask = `COMP_WORDS=(cairn ${line}); COMP_CWORD=${words.length}; _cairn; printf '%s\\n' "\${COMPREPLY[@]}"`
    const out = execFileSync('bash', ['--norc', '-c', `${script}\n${ask}`], { encoding: 'utf8' })
    return out.split('\n').filter((word) => word !== '')
  }

  it('bash: nouns, verbs and options', async () => {
    expect(await complete('')).toEqual(expect.arrayContaining(['ctx', 'fs', 'ws', 'serve', 'help']))
    expect(await complete('fs', 'c')).toEqual(['cat', 'cp', 'chmod'])
    expect(await complete('fs', 'cp', '--re')).toEqual(['--recursive', '--resume'])
    expect(await complete('serve', '--')).toContain('--listen')
    expect(await complete('fs', 'la')).toEqual(['layer'])
    expect(await complete('mount', 'st')).toEqual(['status'])
    expect(await complete('mount', '--read')).toEqual(['--read-only'])
    expect(await complete('mount', ':/repo', './work', '--read')).toEqual(['--read-only'])
    expect(await complete('mount', 'drain', '--')).toEqual(['--timeout', '--json', '--help'])
    expect(await complete('fs', 'layer', 're')).toEqual(['rebase', 'resolve', 'reopen', 'rename'])
    expect(await complete('fs', 'layer', 'commit', '--dr')).toEqual(['--dry-run'])
    expect(await complete('fs', 'layer', 'commit', 'x')).toEqual([])
    expect(await complete('fs', 'cp', './x')).toEqual([])
  })

  it.each([
    ['zsh', renderZsh],
    ['fish', renderFish],
  ] as const)('%s: names every command and option', async (_, render) => {
    const loaded = await loadCommands()
    const script = render(loaded)
    for (const { name, command } of loaded) {
      expect(script).toContain(name.split(' ').at(-1))
      for (const option of Object.keys(allOptions(command.spec))) expect(script).toContain(option)
    }
  })

  const hasShell = (shell: string): boolean => spawnSync(shell, ['-c', 'true']).status === 0

  for (const [shell, onlyRead, render] of [
    ['zsh', ['-n'], renderZsh],
    ['fish', ['--no-execute'], renderFish],
  ] as const)
    it.skipIf(!hasShell(shell))(`${shell} reads its script (needs ${shell})`, async () => {
      const file = join(mkdtempSync(join(tmpdir(), 'cairn-completion-')), shell)
      onTestFinished(() => rmSync(dirname(file), { recursive: true }))
      writeFileSync(file, render(await loadCommands()))
      execFileSync(shell, [...onlyRead, file])
    })
})
