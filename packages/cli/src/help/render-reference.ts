import { allOptions } from '../arguments/parse.ts'
import type { CommandSpec } from '../arguments/command.ts'
import { aliases, loadCommands } from '../commands.ts'
import { exitStatuses, remotePaths } from './render-help.ts'
import { argumentName, optionName, usageLine } from './usage.ts'

/** docs/reference/cli.md, made of the same specs as the help. */
export async function renderReference(): Promise<string> {
  const parts = [
    '# Command line',
    'Made of the commands themselves by `npm run reference -w packages/cli`; a test compares.',
    flow(remotePaths),
    'Options come in any order and place: `--name value`, `--name=value`, `-name value`; flags of one letter may be',
    'joined, as in `-rl`; `--` ends the options.',
    flow(exitStatuses),
    `Other words: ${Object.entries(aliases)
      .map(([alias, name]) => `\`cairn ${alias}\` is \`cairn ${name}\``)
      .join(', ')}.`,
  ]
  const [title, made, paths, order, end, exits, others] = parts
  const head = [title, made, paths, `${order}\n${end}`, exits, others]
  const commands = (await loadCommands()).map(({ name, command }) => section(name, command.spec))
  return [...head, ...commands].join('\n\n') + '\n'
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

function cell(text: string): string {
  return text.replaceAll('|', '\\|')
}

function flow(text: string): string {
  return text.trim()
}
