import type { Cli } from '../cli.ts'

interface OptionBase {
  /** One line for the help. */
  readonly summary: string
  /** One letter. */
  readonly short?: string
}

interface ValueBase extends OptionBase {
  /** What the help calls the value: `PATH`. */
  readonly value: string
}

/** What may follow a command besides its arguments. The kind says which values are taken. */
export type OptionSpec =
  | (OptionBase & { readonly kind: 'flag' })
  /** A flag that says more when it is repeated; the value is how often. */
  | (OptionBase & { readonly kind: 'times' })
  | (ValueBase & { readonly kind: 'text' })
  /** A whole number from 0. */
  | (ValueBase & { readonly kind: 'count' })
  /** May be given several times. */
  | (ValueBase & { readonly kind: 'list' })
  | (OptionBase & { readonly kind: 'choice'; readonly choices: readonly string[] })

export interface ArgumentSpec {
  readonly summary: string
  /** May be left out; only others that may follow it. */
  readonly optional?: true
  /** Takes all that follow, one or more; the last argument only. */
  readonly many?: true
}

export type OptionSpecs = Readonly<Record<string, OptionSpec>>
/** In the order in which they are given. */
export type ArgumentSpecs = Readonly<Record<string, ArgumentSpec>>

export type OptionValues<Specs extends OptionSpecs> = {
  readonly [Name in keyof Specs]: OptionValue<Specs[Name]>
}

type OptionValue<Spec extends OptionSpec> = Spec['kind'] extends 'flag'
  ? boolean
  : Spec['kind'] extends 'times'
    ? number
    : Spec['kind'] extends 'count'
      ? number | undefined
      : Spec['kind'] extends 'list'
        ? readonly string[]
        : Spec extends { readonly choices: readonly (infer Choice)[] }
          ? Choice | undefined
          : string | undefined

export type ArgumentValues<Specs extends ArgumentSpecs> = {
  readonly [Name in keyof Specs]: Specs[Name] extends { readonly many: true }
    ? readonly string[]
    : Specs[Name] extends { readonly optional: true }
      ? string | undefined
      : string
}

export interface Example {
  readonly command: string
  readonly does: string
}

/** What the help, the completion, the reference and the parser are made of. */
export interface CommandSpec<
  Arguments extends ArgumentSpecs = ArgumentSpecs,
  Options extends OptionSpecs = OptionSpecs,
> {
  /** Begins with a verb: `Copy files …`. One line. */
  readonly summary: string
  /** What the summary cannot say. */
  readonly description?: string
  readonly arguments: Arguments
  readonly options: Options
  readonly examples: readonly [Example, ...Example[]]
}

interface Input<Arguments extends ArgumentSpecs, Options extends OptionSpecs> {
  readonly args: ArgumentValues<Arguments>
  readonly options: OptionValues<Options>
  readonly cli: Cli
}

export interface Parsed {
  readonly args: Readonly<Record<string, unknown>>
  readonly options: Readonly<Record<string, unknown>>
}

export interface Command {
  readonly spec: CommandSpec
  /** Throws what went wrong; the edge in exit.ts turns it into a message and an exit code. */
  run(parsed: Parsed, cli: Cli): Promise<void>
}

/** Ties a command's code to its spec: the values it gets have the types that the spec promises. */
export function defineCommand<
  const Arguments extends ArgumentSpecs,
  const Options extends OptionSpecs,
>(
  definition: CommandSpec<Arguments, Options> & {
    readonly run: (input: Input<Arguments, Options>) => Promise<void>
  },
): Command {
  const { run, ...spec } = definition
  return {
    spec,
    run: ({ args, options }, cli) =>
      run({ args, options, cli } as unknown as Input<Arguments, Options>),
  }
}

/** Every command takes these. */
export const commonOptions = {
  json: { kind: 'flag', summary: 'Print JSON: one value, or one per line for lists; errors too' },
  help: { kind: 'flag', short: 'h', summary: 'Show this help' },
} as const
commonOptions satisfies OptionSpecs
