import type { NamedCommand } from '../../commands.ts'
import { firstWords, formsOf, longestFirst, optionsOf, prefixes, verbsOf } from './words.ts'

export function renderBash(loaded: readonly NamedCommand[]): string {
  const known = prefixes(loaded).map((noun) => `'${noun}'`)
  const first = firstWords(loaded).map(([word]) => word)
  const verbs = prefixes(loaded).map((noun) => {
    const words = verbsOf(loaded, noun).map(([word]) => word)
    return `      '${noun}') words='${words.join(' ')}' ;;`
  })
  const options = longestFirst(loaded).map((named) => {
    const forms = optionsOf(named).flatMap(([name, spec]) => formsOf(name, spec))
    const more = known.includes(`'${named.name}'`) ? `|'${named.name} '*` : ''
    return `      '${named.name}'${more}) words='${forms.join(' ')}' ;;`
  })
  return `# cairn for bash: source <(cairn completion bash)
_cairn() {
  local word=\${COMP_WORDS[COMP_CWORD]} noun='' name='' words='' at
  for ((at = 1; at < COMP_CWORD; at++)); do
    name="\${noun:+$noun }\${COMP_WORDS[at]}"
    case $name in ${known.join('|')}) noun=$name ;; *) break ;; esac
  done
  if [[ $word == -* ]]; then
    case $name in
${options.join('\n')}
    esac
  elif ((COMP_CWORD == 1)); then
    words='${first.join(' ')}'
  elif ((at == COMP_CWORD)); then
    case $noun in
${verbs.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _cairn cairn
`
}
