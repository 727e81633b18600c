import type { ArgumentSpec, CommandSpec, OptionSpec } from '../arguments/command.ts'

/** `cairn fs cp [OPTIONS] SOURCE TARGET` */
export function usageLine(name: string, spec: CommandSpec): string {
  const words = Object.entries(spec.arguments).map(([argument, what]) =>
    argumentName(argument, what),
  )
  return ['cairn', name, '[OPTIONS]', ...words].join(' ')
}

export function argumentName(name: string, { optional, many }: ArgumentSpec): string {
  const upper = name.toUpperCase() + (many === true ? '…' : '')
  return optional === true ? `[${upper}]` : upper
}

/** `-w, --workspace NAME` */
export function optionName(name: string, spec: OptionSpec): string {
  const short = spec.short === undefined ? '' : `-${spec.short}, `
  return `${short}--${name}${valueName(spec)}`
}

function valueName(spec: OptionSpec): string {
  switch (spec.kind) {
    case 'flag':
    case 'times':
      return ''
    case 'choice':
      return ` ${spec.choices.join('|')}`
    case 'list':
      return ` ${spec.value} …`
    case 'text':
    case 'count':
      return ` ${spec.value}`
  }
}
