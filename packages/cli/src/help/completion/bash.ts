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
  if [[ $word == -* && $word != *=* ]]; then
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
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$word"))
    return
  fi
  # Bash cuts words at colons and equal signs, and replaces only the last piece.
  local line=\${COMP_LINE:0:COMP_POINT} typed current cut
  read -ra typed <<<"$line"
  [[ $line == *[[:space:]] ]] && typed+=('')
  current=\${typed[\${#typed[@]} - 1]}
  cut=\${current%"\${current##*[:=]}"}
  local IFS=$'\\n'
  COMPREPLY=($(cairn complete -- "\${typed[@]:1}" 2>/dev/null))
  COMPREPLY=("\${COMPREPLY[@]#"$cut"}")
  [[ \${#COMPREPLY[@]} == 1 && \${COMPREPLY[0]} == */ ]] && compopt -o nospace 2>/dev/null
}
complete -o default -F _cairn cairn
`
}
