import type { CommandSpec } from '../arguments/command.ts'
import { allOptions } from '../arguments/parse.ts'
import type { Cli } from '../cli.ts'
import { commands, loadCommand } from '../commands.ts'
import { findInvocation } from '../program.ts'
import { findValues, type CompletedPlace, type ValueKind } from './values.ts'

/**
 * What may stand in place of the last word, which may be empty: names that only the server or the saved contexts know.
 * Commands and options are in the scripts. What cannot be found out is nothing: a shell shows no errors.
 */
export async function complete(
  cli: Pick<Cli, 'env' | 'home'>,
  words: readonly string[],
): Promise<string[]> {
  const word = words.at(-1) ?? ''
  try {
    const { name, tokens } = findInvocation(words.slice(0, -1))
    if (!Object.hasOwn(commands, name)) return []
    const { spec } = await loadCommand(name)
    const read = readTokens(spec, tokens)
    const [, option, begun] = /^--([\w-]+)=(.*)$/.exec(word) ?? []
    if (option !== undefined && begun !== undefined) {
      const values = await findFor(cli, optionKinds[option], begun, read.place)
      return values.map((value) => `--${option}=${value}`)
    }
    const kind =
      read.open === undefined ? kindOf(name, spec, read.positionals) : optionKinds[read.open]
    return await findFor(cli, word.startsWith('-') ? undefined : kind, word, read.place)
  } catch {
    return []
  }
}

async function findFor(
  cli: Pick<Cli, 'env' | 'home'>,
  kind: ValueKind | undefined,
  word: string,
  place: CompletedPlace,
): Promise<string[]> {
  return kind === undefined ? [] : findValues(cli, kind, word, place)
}

const optionKinds: Readonly<Record<string, ValueKind>> = {
  workspace: 'workspace',
  layer: 'layer',
  context: 'context',
}

interface Read {
  readonly place: CompletedPlace
  readonly positionals: number
  /** The option whose value comes next. */
  readonly open: string | undefined
}

function readTokens(spec: CommandSpec, tokens: readonly string[]): Read {
  const options = allOptions(spec)
  const given: Record<string, string> = {}
  let [positionals, open] = [0, undefined as string | undefined]
  for (const token of tokens) {
    if (open !== undefined) {
      given[open] = token
      open = undefined
      continue
    }
    const [, long, value] = /^--?([\w-]+)(?:=(.*))?$/.exec(token) ?? []
    if (long === undefined) positionals++
    else {
      const [name, option] =
        Object.entries(options).find(([each, { short }]) => each === long || short === long) ?? []
      if (name !== undefined && value !== undefined) given[name] = value
      else if (option && option.kind !== 'flag' && option.kind !== 'times') open = name
    }
  }
  const { context, workspace, layer } = given
  return { place: { context, workspace, layer }, positionals, open }
}

function kindOf(name: string, spec: CommandSpec, positionals: number): ValueKind | undefined {
  const args = Object.entries(spec.arguments)
  const last = args.at(-1)
  const [argument] = args[positionals] ?? (last?.[1].many ? last : [])
  if (argument === undefined) return undefined
  if (argument === 'layer') return 'layer'
  if (argument !== 'name') return 'remote'
  if (name === 'ws create' || name === 'ctx add') return undefined
  if (name === 'ws restore') return 'deleted'
  if (name.startsWith('ws ')) return 'workspace'
  return name.startsWith('ctx ') ? 'context' : undefined
}
