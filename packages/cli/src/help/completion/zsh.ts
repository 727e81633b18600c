import type { OptionSpec } from '../../arguments/command.ts'
import type { NamedCommand } from '../../commands.ts'
import {
  type Described,
  firstWords,
  formsOf,
  longestFirst,
  optionsOf,
  prefixes,
  verbsOf,
} from './words.ts'

export function renderZsh(loaded: readonly NamedCommand[]): string {
  const known = prefixes(loaded).map((noun) => `'${noun}'`)
  const verbs = prefixes(loaded).map(
    (noun) => `      '${noun}') choices=(${list(verbsOf(loaded, noun))}) ;;`,
  )
  const options = longestFirst(loaded).map((named) => {
    const forms = optionsOf(named).flatMap(([name, spec]) =>
      formsOf(name, spec).map((form) => option(form, spec)),
    )
    const more = known.includes(`'${named.name}'`) ? `|'${named.name} '*` : ''
    return `    '${named.name}'${more}) _arguments ${forms.join(' ')} '*:path:_cairn_values' ;;`
  })
  return `#compdef cairn
# cairn for zsh: source <(cairn completion zsh)
_cairn_values() {
  local -a found
  found=("\${(@f)$(command cairn complete -- "\${typed[@]}" 2>/dev/null)}")
  found=(\${found:#})
  if (($#found == 0)); then _files; return; fi
  compadd -Q -S '' -f -- "\${(@M)found:#*/}"
  compadd -Q -- "\${(@)found:#*/}"
}
_cairn() {
  local -a choices typed
  typed=("\${(@)words[2,CURRENT]}")
  local noun='' name='' at
  for ((at = 2; at < CURRENT; at++)); do
    name="\${noun:+$noun }$words[at]"
    case $name in
      (${known.join('|')}) noun=$name ;;
      (*) break ;;
    esac
  done
  if ((CURRENT == 2)); then
    choices=(${list(firstWords(loaded))})
  elif ((at == CURRENT)); then
    case $noun in
${verbs.join('\n')}
    esac
  fi
  if (($#choices > 0)); then
    _describe command choices
    return
  fi
  shift $((at - 1)) words
  ((CURRENT -= at - 1))
  case $name in
${options.join('\n')}
  esac
}
compdef _cairn cairn
`
}

function list(words: readonly Described[]): string {
  return words.map(([word, summary]) => `'${word}:${plain(summary)}'`).join(' ')
}

function option(form: string, spec: OptionSpec): string {
  const described = `${form}[${plain(spec.summary)}]`
  if (spec.kind === 'flag' || spec.kind === 'times') return `'${described}'`
  const values = spec.kind === 'choice' ? `(${spec.choices.join(' ')})` : '_cairn_values'
  return `'${described}:value:${values}'`
}

/** Without what means something to \`_arguments\` or to the shell's quotes. */
function plain(text: string): string {
  return text.replace(/['[\]:\\]/g, '')
}
