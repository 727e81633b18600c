import { usageError } from '../errors.ts'
import type { CommandSpec } from './command.ts'

/** Gives the words that are no options to the arguments, in their order. */
export function readArguments(
  name: string,
  spec: CommandSpec,
  words: readonly string[],
): Record<string, unknown> {
  const rest = [...words]
  const values: Record<string, unknown> = {}
  for (const [argument, { optional, many }] of Object.entries(spec.arguments)) {
    if (rest.length === 0 && optional !== true)
      throw usageError(`run cairn ${name}`, `${argument.toUpperCase()} is missing`, see(name))
    values[argument] = many === true ? rest.splice(0) : rest.shift()
  }
  const [extra] = rest
  if (extra === undefined) return values
  throw usageError(`run cairn ${name}`, `'${extra}' is one argument too many`, see(name))
}

function see(name: string): string {
  return `See cairn ${name} --help.`
}
