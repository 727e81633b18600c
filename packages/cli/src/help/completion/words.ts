import { allOptions } from '../../arguments/parse.ts'
import type { OptionSpec } from '../../arguments/command.ts'
import { type NamedCommand, nounOf, nounsOf } from '../../commands.ts'

export type Described = readonly [word: string, summary: string]

/** What may stand first: nouns, and commands that have none. */
export function firstWords(loaded: readonly NamedCommand[]): Described[] {
  const single = loaded.filter(({ name }) => !name.includes(' '))
  return [
    ...nounsOf(''),
    ...single.map(({ name, command }): Described => [name, command.spec.summary]),
  ]
}

/** What may follow a noun. */
export function verbsOf(loaded: readonly NamedCommand[], noun: string): Described[] {
  const verbs = loaded
    .filter(({ name }) => nounOf(name) === noun)
    .map(({ name, command }): Described => [lastWord(name), command.spec.summary])
  return [...verbs, ...nounsOf(noun).map(([name, summary]): Described => [lastWord(name), summary])]
}

function lastWord(name: string): string {
  return name.replace(/^.* /, '')
}

export function optionsOf({ command }: NamedCommand): [name: string, spec: OptionSpec][] {
  return Object.entries(allOptions(command.spec))
}

/** `--recursive` and `-r`. */
export function formsOf(name: string, { short }: OptionSpec): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}
