import { usageError } from '../errors.ts'
import { type CommandSpec, commonOptions, type OptionSpec, type Parsed } from './command.ts'
import { readArguments } from './read-arguments.ts'
import { findNearest } from './nearest.ts'

/**
 * Reads what follows a command's name. Options come in any order and place: `--name v`, `--name=v`, `-name v`, `-n v`,
 * `-nv`, several flags as `-rl`; `--` ends them. `-` alone is an argument.
 */
export function parseArguments(name: string, spec: CommandSpec, tokens: readonly string[]): Parsed {
  const reader = new TokenReader(name, spec, tokens)
  return { options: reader.options, args: readArguments(name, spec, reader.words) }
}

/** Every option a command takes, those that all commands take included. */
export function allOptions(spec: CommandSpec): Readonly<Record<string, OptionSpec>> {
  return { ...spec.options, ...commonOptions }
}

/** The values of options that are not given. */
const initial: Partial<Record<OptionSpec['kind'], unknown>> = { flag: false, times: 0, list: [] }

class TokenReader {
  readonly words: string[] = []
  readonly options: Record<string, unknown> = {}
  readonly #command: string
  readonly #specs: ReadonlyMap<string, OptionSpec>
  readonly #given = new Set<string>()

  constructor(command: string, spec: CommandSpec, tokens: readonly string[]) {
    this.#command = command
    this.#specs = new Map(Object.entries(allOptions(spec)))
    for (const [name, { kind }] of this.#specs) this.options[name] = initial[kind]
    const rest = [...tokens]
    for (let token = rest.shift(); token !== undefined; token = rest.shift()) {
      if (token === '--') this.words.push(...rest.splice(0))
      else if (token === '-' || !token.startsWith('-')) this.words.push(token)
      else this.#readOption(token, rest)
    }
  }

  #readOption(token: string, rest: string[]): void {
    const { name, value } = splitToken(token)
    if (this.#specs.has(name)) return this.#take(name, value, rest)
    if (token.startsWith('--')) throw this.#unknown(token, name)
    this.#readShorts(token, rest)
  }

  /** `-rl`, `-n20`, `-n=20`: flags, and at last one that may take a value. */
  #readShorts(token: string, rest: string[]): void {
    for (let at = 1; at < token.length; at++) {
      const name = this.#findShort(token[at]!)
      if (name === undefined) throw this.#unknown(token, splitToken(token).name)
      const isFlag = ['flag', 'times'].includes(this.#specs.get(name)!.kind)
      const remainder = token.slice(at + 1)
      if (isFlag) this.#take(name, undefined, rest)
      else return this.#take(name, remainder === '' ? undefined : remainder.replace(/^=/, ''), rest)
    }
  }

  #take(name: string, inline: string | undefined, rest: string[]): void {
    const spec = this.#specs.get(name)!
    if (spec.kind === 'times') {
      if (inline !== undefined) throw this.#wrong(name, `it takes no value, and '${inline}' is one`)
      this.options[name] = (this.options[name] as number) + 1
      return
    }
    if (spec.kind === 'flag') {
      if (inline !== undefined && inline !== 'true' && inline !== 'false')
        throw this.#wrong(name, `it takes no value, and '${inline}' is one`)
      this.options[name] = inline !== 'false'
      return
    }
    const value = inline ?? this.#nextValue(name, rest)
    if (spec.kind === 'list') {
      this.options[name] = [...(this.options[name] as string[]), value]
      return
    }
    if (this.#given.has(name)) throw this.#wrong(name, 'it is given twice')
    this.#given.add(name)
    this.options[name] = this.#convert(name, spec, value)
  }

  #convert(name: string, spec: OptionSpec, value: string): string | number {
    if (spec.kind === 'choice' && !spec.choices.includes(value))
      throw this.#wrong(name, `'${value}' is none of ${spec.choices.join(', ')}`)
    if (spec.kind !== 'count') return value
    if (/^\d{1,15}$/.test(value)) return Number(value)
    throw this.#wrong(name, `'${value}' is no whole number from 0`)
  }

  /** A value may begin with a dash (`-size -10k`), unless it is itself an option of this command. */
  #nextValue(name: string, rest: string[]): string {
    const [next] = rest
    const isOption = next !== undefined && next.startsWith('-') && this.#isOption(next)
    if (next === undefined || next === '--' || isOption)
      throw this.#wrong(name, 'its value is missing')
    return rest.shift()!
  }

  #isOption(token: string): boolean {
    const { name } = splitToken(token)
    return this.#specs.has(name) || (token.length === 2 && this.#findShort(name) !== undefined)
  }

  #findShort(letter: string): string | undefined {
    for (const [name, { short }] of this.#specs) if (short === letter) return name
    return undefined
  }

  #unknown(token: string, name: string): Error {
    const nearest = findNearest(name, this.#specs.keys())
    const meant = nearest === undefined ? '' : ` Did you mean --${nearest}?`
    const hint = `See cairn ${this.#command} --help.${meant}`
    return usageError(
      `take the option ${token.split('=')[0]}`,
      'the command has no such option',
      hint,
    )
  }

  #wrong(name: string, reason: string): Error {
    return usageError(`take the option --${name}`, reason, `See cairn ${this.#command} --help.`)
  }
}

function splitToken(token: string): { name: string; value: string | undefined } {
  const [, name = '', value] = /^--?([^=]*)(?:=([^]*))?$/.exec(token) ?? []
  return { name, value }
}
