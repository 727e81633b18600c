import { exitTable } from '@cairn/protocol'
import { allOptions } from '../arguments/parse.ts'
import type { CommandSpec, Example } from '../arguments/command.ts'
import {
  commands,
  loadCommand,
  loadCommands,
  type NamedCommand,
  nouns,
  nounsOf,
} from '../commands.ts'
import { wrapText } from '../output/wrap-text.ts'
import { version } from '../version.ts'
import { argumentName, optionName, usageLine } from './usage.ts'

/** Many terminals are no wider, and longer lines are hard to read. */
const columnsMax = 100
const leftMax = 44

/** The help of a command, of a noun, or with an empty name of everything. */
export async function renderHelp(name: string): Promise<string> {
  if (Object.hasOwn(commands, name)) return commandHelp(name, (await loadCommand(name)).spec)
  if (Object.hasOwn(nouns, name)) return nounHelp(name as keyof typeof nouns)
  return overview()
}

async function commandHelp(name: string, spec: CommandSpec): Promise<string> {
  const below = await loadCommands(name)
  const words = Object.entries(spec.arguments).map(([argument, what]) => [
    argumentName(argument, what),
    what.summary,
  ])
  const options = Object.entries(allOptions(spec)).map(([option, what]) => [
    what.short === undefined ? `    ${optionName(option, what)}` : optionName(option, what),
    what.summary,
  ])
  return sections([
    `${spec.summary}.`,
    `Usage: ${usageLine(name, spec)}`,
    spec.description === undefined ? undefined : wrapText(spec.description, columnsMax),
    titled('Arguments', words),
    titled('Options', options),
    titled(
      'Commands',
      below.map(({ name: full, command }) => [`cairn ${full}`, command.spec.summary]),
    ),
    examples(spec.examples),
  ])
}

async function nounHelp(noun: keyof typeof nouns): Promise<string> {
  const loaded = await loadCommands(noun)
  return sections([
    `${nouns[noun]}.`,
    `Usage: cairn ${noun} COMMAND [OPTIONS] …`,
    titled('Commands', [...loaded.map(row), ...nounsOf(noun).map(nounRow)]),
    examples(loaded.map(({ command }) => command.spec.examples[0])),
    `Help for a command: cairn ${noun} COMMAND --help`,
  ])
}

async function overview(): Promise<string> {
  const single = (await loadCommands()).filter(({ name }) => !name.includes(' '))
  return sections([
    `cairn ${version}: durable workspaces for AI agents.`,
    'Usage: cairn COMMAND [OPTIONS] …',
    titled('Commands', single.map(row)),
    titled('Groups of commands', Object.entries(nouns)),
    examples([
      { command: 'cairn up ./work', does: 'a directory whose files survive, on this machine' },
      { command: 'cairn serve', does: 'run a server' },
      { command: 'cairn fs cp -r ./site :/', does: 'copy a directory into the workspace' },
      { command: 'cairn fs ls -l :/', does: 'list its files' },
      { command: 'cairn mount :/ ./work', does: 'work in it as in any directory' },
    ]),
    wrapText(remotePaths, columnsMax),
    wrapText(exitStatuses, columnsMax),
    'Help for a command or a group: cairn COMMAND --help',
  ])
}

export const remotePaths: string = [
  'Remote paths: :/path is a path in the current context, and NAME:/path in the context NAME. Where only a',
  'remote path makes sense, you can leave out the colon. The server and the key come from the options, from',
  'CAIRN_SERVER and CAIRN_API_KEY, or from the context, in this order, and always both from the same place. The',
  'workspace comes from --workspace, from CAIRN_WORKSPACE, or from the context. NAME:/path always uses the',
  'workspace of that context.',
].join('\n')

/** Those that scripts look at most. */
const commonExits = [0, 1, 2, 3, 4, 5, 8, 9, 12, 18, 130] as const

const exitStatuses: string = [
  `Exit codes: ${commonExits.map((code) => `${code} ${exitTable[code]}`).join('; ')}.`,
  'docs/reference/cli.md lists all of them. With --json, errors are JSON on standard error.',
].join(' ')

function row({ name, command }: NamedCommand): string[] {
  return [name.replace(/^.* /, ''), command.spec.summary]
}

function nounRow([name, summary]: readonly [string, string]): string[] {
  return [name.replace(/^.* /, ''), summary]
}

function titled(title: string, rows: readonly (readonly string[])[]): string | undefined {
  if (rows.length === 0) return undefined
  return [`${title}:`, ...rows.flatMap((row) => twoColumns(row, leftWidth(rows)))].join('\n')
}

/** The width of the left column; anything wider gets a line of its own. */
function leftWidth(rows: readonly (readonly string[])[]): number {
  return Math.min(leftMax, Math.max(...rows.map(([left = '']) => left.length)))
}

function twoColumns([left = '', right = '']: readonly string[], width: number): string[] {
  const indent = width + 4
  const [first = '', ...rest] = wrapText(right, columnsMax - indent).split('\n')
  const below = rest.map((line) => ' '.repeat(indent) + line)
  if (left.length <= width) return [`  ${left.padEnd(width)}  ${first}`, ...below]
  return [`  ${left}`, ' '.repeat(indent) + first, ...below]
}

function examples(list: readonly Example[]): string {
  return titled(
    'Examples',
    list.map(({ command, does }) => [command, does]),
  )!
}

function sections(parts: readonly (string | undefined)[]): string {
  return parts.filter((part) => part !== undefined).join('\n\n')
}
