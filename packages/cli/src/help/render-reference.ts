import { exitTable } from '@cairn/protocol'
import { allOptions } from '../arguments/parse.ts'
import type { CommandSpec } from '../arguments/command.ts'
import { aliases, loadCommands, type NamedCommand, nounOf } from '../commands.ts'
import { remotePaths } from './render-help.ts'
import { argumentName, optionName, usageLine } from './usage.ts'

const optionForms = [
  'Options can stand anywhere, in any order: `--name value`, `--name=value` or `-name value`. Flags of one letter can be',
  'joined, as in `-rl`. `--` ends the options.',
].join('\n')

/** docs/reference/cli.md, made of the same specs as the help. */
export async function renderReference(): Promise<string> {
  const others = Object.entries(aliases).map(
    ([alias, name]) => `\`cairn ${alias}\` is \`cairn ${name}\``,
  )
  const loaded = await loadCommands()
  const commands = loaded.map(({ name, command }) => section(name, command.spec))
  return [
    '# Command line',
    '`npm run reference -w packages/cli` generates this page from the commands.',
    contents(loaded),
    remotePaths,
    optionForms,
    exitCodes(),
    `Aliases: ${others.join(', ')}.`,
    ...commands,
  ]
    .join('\n\n')
    .concat('\n')
}

/** A row for each noun, with links to its commands. */
function contents(loaded: readonly NamedCommand[]): string {
  const groups = new Map<string, string[]>()
  for (const { name } of loaded) {
    const noun = nounOf(name)
    const link = `[${name.slice(noun.length).trim()}](#cairn-${name.replaceAll(' ', '-')})`
    groups.set(noun, [...(groups.get(noun) ?? []), link])
  }
  const rows = [...groups].map(
    ([noun, links]) => `| \`${['cairn', noun].join(' ').trim()}\` | ${links.join(' · ')} |`,
  )
  return ['| | |', '|---|---|', ...rows].join('\n')
}

function section(name: string, spec: CommandSpec): string {
  const words = Object.entries(spec.arguments).map(
    ([argument, what]) => `| \`${argumentName(argument, what)}\` | ${cell(what.summary)} |`,
  )
  const options = Object.entries(allOptions(spec)).map(
    ([option, what]) => `| \`${cell(optionName(option, what))}\` | ${cell(what.summary)} |`,
  )
  const examples = spec.examples.map(({ command, does }) => `# ${does}\n${command}`)
  return [
    `## cairn ${name}`,
    `${spec.summary}. \`${usageLine(name, spec)}\``,
    ...(spec.description === undefined ? [] : [spec.description]),
    ['| | |', '|---|---|', ...words, ...options].join('\n'),
    ['```', ...examples, '```'].join('\n'),
  ].join('\n\n')
}

function exitCodes(): string {
  const rows = Object.entries(exitTable).map(([code, meaning]) => `| ${code} | ${meaning} |`)
  const title =
    'A command ends with one of these exit codes. With `--json`, an error is JSON on the standard error output, with'
  return [
    '## Exit codes',
    `${title}\nthe code of the error: [errors.md](errors.md) lists them.`,
    ['| Exit | Meaning |', '|---|---|', ...rows].join('\n'),
  ].join('\n\n')
}

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}
