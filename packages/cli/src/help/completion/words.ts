import { allOptions } from '../../arguments/parse.ts'
import type { OptionSpec } from '../../arguments/command.ts'
import { type NamedCommand, nouns } from '../../commands.ts'

export type Described = readonly [word: string, summary: string]

/** What may stand first: nouns, and commands that have none. */
export function firstWords(loaded: readonly NamedCommand[]): Described[] {
  const single = loaded.filter(({ name }) => !name.includes(' '))
  return [
    ...Object.entries(nouns),
    ...single.map(({ name, command }): Described => [name, command.spec.summary]),
  ]
}

/** What may follow a noun. */
export function verbsOf(loaded: readonly NamedCommand[], noun: string): Described[] {
  return loaded
    .filter(({ name }) => name.startsWith(`${noun} `))
    .map(({ name, command }) => [name.slice(noun.length + 1), command.spec.summary])
}

export function optionsOf({ command }: NamedCommand): [name: string, spec: OptionSpec][] {
  return Object.entries(allOptions(command.spec))
}

/** `--recursive` and `-r`. */
export function formsOf(name: string, { short }: OptionSpec): string[] {
  return short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]
}
