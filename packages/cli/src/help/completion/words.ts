import { allOptions } from '../../arguments/parse.ts'
import type { OptionSpec } from '../../arguments/command.ts'
import { type NamedCommand, nounOf, nouns, nounsOf } from '../../commands.ts'

export type Described = readonly [word: string, summary: string]

/** What may stand first: nouns, and commands that have none. */
export function firstWords(loaded: readonly NamedCommand[]): Described[] {
  const single = loaded.filter(({ name }) => !name.includes(' '))
  return [
    ...nounsOf(''),
    ...single.map(({ name, command }): Described => [name, command.spec.summary]),
  ]
}

/** What a verb may follow: nouns, and commands that have others below them, as `mount` has `mount status`. */
export function prefixes(loaded: readonly NamedCommand[]): string[] {
  return [...new Set([...Object.keys(nouns), ...loaded.map(({ name }) => nounOf(name))])].filter(
    (name) => name !== '',
  )
}

/** Those with more words first: `mount status` is also a `mount` with something behind it. */
export function longestFirst(loaded: readonly NamedCommand[]): NamedCommand[] {
  return loaded.toSorted((a, b) => b.name.split(' ').length - a.name.split(' ').length)
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
