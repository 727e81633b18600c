import { parseArguments } from './arguments/parse.ts'
import { didYouMean } from './arguments/meant.ts'
import { findNearest } from './arguments/nearest.ts'
import type { Cli } from './cli.ts'
import { aliases, commands, loadCommand, nouns } from './commands.ts'
import { usageError } from './errors.ts'
import { version } from './version.ts'

/** What the words ask for. `name` is empty, a noun, or a command. */
export interface Invocation {
  readonly name: string
  readonly tokens: readonly string[]
}

/** Flags that may also stand before the command. None of them takes a value. */
const earlyFlags: readonly string[] = ['--json', '-json', '--help', '-help', '-h', '--version']

/** Finds the command among the words. Throws for one there is not, naming the nearest. */
export function findInvocation(argv: readonly string[]): Invocation {
  const words: string[] = []
  const early: string[] = []
  let at = 0
  for (; at < argv.length && words.length < 3; at++) {
    const token = argv[at]!
    if (earlyFlags.includes(token)) early.push(token)
    else if (token.startsWith('-')) break
    else if (words.length > 0 && !goesOn(words.join(' '), token)) break
    else words.push(token)
  }
  const tokens = [...early, ...argv.slice(at)]
  const name = words.join(' ')
  if (name === '' || Object.hasOwn(commands, name)) return { name, tokens }
  if (Object.hasOwn(aliases, name) && !isHelp(tokens)) return { name: aliases[name]!, tokens }
  if (isNoun(name)) return { name, tokens }
  throw unknownCommand(name)
}

export async function runProgram({ name, tokens }: Invocation, cli: Cli): Promise<void> {
  if (name === '' && tokens.includes('--version')) return cli.out.line(version)
  if (!Object.hasOwn(commands, name)) {
    const stray = tokens.find((token) => !earlyFlags.includes(token))
    if (stray?.startsWith('-')) throw unknownOption(stray, name)
    if (stray !== undefined) throw unknownCommand([name, stray].join(' ').trim())
    return printHelp(name, cli)
  }
  const command = await loadCommand(name)
  if (isHelp(tokens)) return printHelp(name, cli)
  await command.run(parseArguments(name, command.spec, tokens), cli)
}

async function printHelp(name: string, cli: Cli): Promise<void> {
  const { renderHelp } = await import('./help/render-help.ts')
  await cli.out.line(await renderHelp(name))
}

function isHelp(tokens: readonly string[]): boolean {
  const end = tokens.indexOf('--')
  const flags = end < 0 ? tokens : tokens.slice(0, end)
  return flags.some((token) => ['--help', '-help', '-h'].includes(token))
}

/** Before the options are parsed, because what is wrong with them must be told in the same way. */
export function isJson(tokens: readonly string[]): boolean {
  const end = tokens.indexOf('--')
  const flags = end < 0 ? tokens : tokens.slice(0, end)
  return flags.some((token) => ['--json', '-json', '--json=true'].includes(token))
}

/** A noun has a verb behind it. A command may have one, too: `mount status`. */
function goesOn(words: string, next: string): boolean {
  const both = `${words} ${next}`
  return isNoun(words) || Object.hasOwn(commands, both) || Object.hasOwn(aliases, both)
}

function isNoun(word: string): boolean {
  return Object.hasOwn(nouns, word)
}

function unknownCommand(name: string): Error {
  const names = [...Object.keys(commands), ...Object.keys(nouns), ...Object.keys(aliases)]
  const noun = Object.keys(nouns).findLast((known) => name.startsWith(`${known} `))
  const help = noun === undefined ? 'cairn --help' : `cairn ${noun} --help`
  const meant = didYouMean(name, names)
  return usageError(`run cairn ${name}`, 'there is no such command', `See ${help}.${meant}`)
}

/** Before any command there are only a few. */
function unknownOption(token: string, noun: string): Error {
  const nearest = findNearest(token, earlyFlags)
  const meant = nearest === undefined ? '' : ` Did you mean ${nearest}?`
  const command = ['cairn', noun, '--help'].filter(Boolean).join(' ')
  return usageError(`take the option ${token}`, 'no command was named', `See ${command}.${meant}`)
}
