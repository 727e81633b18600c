import { allOptions } from '../arguments/parse.ts'
import type { OptionSpec } from '../arguments/command.ts'
import { loadCommands, type NamedCommand, nouns } from '../commands.ts'

export const shells = ['bash', 'zsh', 'fish'] as const
export type Shell = (typeof shells)[number]

/** A script that completes nouns, verbs and options; everything it says is in it, so pressing Tab starts nothing. */
export async function renderCompletion(shell: Shell): Promise<string> {
  const loaded = await loadCommands()
  switch (shell) {
    case 'bash':
      return bash(loaded)
    case 'zsh':
      return zsh(loaded)
    case 'fish':
      return fish(loaded)
  }
}

const firstWords = (loaded: readonly NamedCommand[]): string[] => [
  ...Object.keys(nouns),
  ...loaded.map(({ name }) => name).filter((name) => !name.includes(' ')),
]

const verbsOf = (loaded: readonly NamedCommand[], noun: string): NamedCommand[] =>
  loaded.filter(({ name }) => name.startsWith(`${noun} `))

const optionsOf = ({ command }: NamedCommand): [string, OptionSpec][] =>
  Object.entries(allOptions(command.spec))

function flagsOf(named: NamedCommand): string {
  return optionsOf(named)
    .flatMap(([name, { short }]) => (short === undefined ? [`--${name}`] : [`--${name}`, `-${short}`]))
    .join(' ')
}

function bash(loaded: readonly NamedCommand[]): string {
  const cases = loaded.map((named) => `    '${named.name}') words='${flagsOf(named)}' ;;`)
  const verbs = Object.keys(nouns).map((noun) => {
    const names = verbsOf(loaded, noun).map(({ name }) => name.slice(noun.length + 1))
    return `    ${noun}) words='${names.join(' ')}' ;;`
  })
  return `# cairn completion for bash: source <(cairn completion bash)
_cairn() {
  local word=\${COMP_WORDS[COMP_CWORD]} words=''
  local first=\${COMP_WORDS[1]} second=\${COMP_WORDS[2]}
  case $COMP_CWORD in
  1) words='${firstWords(loaded).join(' ')}' ;;
  2) case $first in
${verbs.join('\n')}
    esac ;;
  esac
  if [[ $word == -* ]]; then
    local name=$first
    case $first in ${Object.keys(nouns).join('|')}) name="$first $second" ;; esac
    case $name in
${cases.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _cairn cairn
`
}

function zsh(loaded: readonly NamedCommand[]): string {
  const describe = (text: string): string => text.replace(/['[\]:\\]/g, ' ')
  const cases = loaded.map((named) => {
    const options = optionsOf(named).flatMap(([name, spec]) => {
      const value = spec.kind === 'flag' ? '' : spec.kind === 'choice' ? `:value:(${spec.choices.join(' ')})` : ':value:_files'
      const forms = spec.short === undefined ? [`--${name}`] : [`--${name}`, `-${spec.short}`]
      return forms.map((form) => `'${form}[${describe(spec.summary)}]${value}'`)
    })
    return `    '${named.name}') _arguments ${options.join(' ')} '*:path:_files' ;;`
  })
  const list = (entries: readonly (readonly [string, string])[]): string =>
    entries.map(([name, summary]) => `'${name}:${describe(summary)}'`).join(' ')
  const single = loaded.filter(({ name }) => !name.includes(' '))
  const first: [string, string][] = [
    ...Object.entries(nouns),
    ...single.map(({ name, command }): [string, string] => [name, command.spec.summary]),
  ]
  const verbs = Object.keys(nouns).map((noun) => {
    const entries = verbsOf(loaded, noun).map(
      ({ name, command }) => [name.slice(noun.length + 1), command.spec.summary] as const,
    )
    return `    ${noun}) words=(${list(entries)}); _describe command words; return ;;`
  })
  return `#compdef cairn
# cairn completion for zsh: source <(cairn completion zsh)
_cairn() {
  local -a words
  local name=\${(Q)words_given[2]}
  return 0
}
_cairn() {
  local -a given; given=("\${(@)words}")
  local first=$given[2] second=$given[3] position=$CURRENT
  local -a words
  if (( position == 2 )); then
    words=(${list(first)}); _describe command words; return
  fi
  if (( position == 3 )); then
    case $first in
${verbs.join('\n')}
    esac
  fi
  local name=$first
  case $first in ${Object.keys(nouns).join('|')}) name="$first $second" ;; esac
  case $name in
${cases.join('\n')}
  esac
}
compdef _cairn cairn
`
}

function fish(loaded: readonly NamedCommand[]): string {
  const quote = (text: string): string => `'${text.replace(/['\\]/g, '\\$&')}'`
  const lines = ['# cairn completion for fish: cairn completion fish | source']
  const top = `__fish_use_subcommand`
  for (const [noun, summary] of Object.entries(nouns))
    lines.push(`complete -c cairn -n ${top} -f -a ${noun} -d ${quote(summary)}`)
  for (const named of loaded) {
    const { name, command } = named
    const [first = '', second] = name.split(' ')
    const condition =
      second === undefined
        ? quote(`__fish_seen_subcommand_from ${first}`)
        : quote(`__fish_seen_subcommand_from ${first}; and __fish_seen_subcommand_from ${second}`)
    const before =
      second === undefined
        ? top
        : quote(`__fish_seen_subcommand_from ${first}; and test (count (commandline -opc)) -eq 2`)
    lines.push(
      `complete -c cairn -n ${before} -f -a ${second ?? first} -d ${quote(command.spec.summary)}`,
    )
    for (const [option, spec] of optionsOf(named)) {
      const short = spec.short === undefined ? '' : ` -s ${spec.short}`
      const value = spec.kind === 'flag' ? '' : ' -r'
      lines.push(
        `complete -c cairn -n ${condition}${short} -l ${option}${value} -d ${quote(spec.summary)}`,
      )
    }
  }
  return `${lines.join('\n')}\n`
}
