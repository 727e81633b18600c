import { type NamedCommand, nouns } from '../../commands.ts'
import { firstWords, formsOf, optionsOf, verbsOf } from './words.ts'

export function renderBash(loaded: readonly NamedCommand[]): string {
  const first = firstWords(loaded).map(([word]) => word)
  const verbs = Object.keys(nouns).map((noun) => {
    const words = verbsOf(loaded, noun).map(([word]) => word)
    return `      ${noun}) words='${words.join(' ')}' ;;`
  })
  const options = loaded.map((named) => {
    const forms = optionsOf(named).flatMap(([name, spec]) => formsOf(name, spec))
    return `      '${named.name}') words='${forms.join(' ')}' ;;`
  })
  return `# cairn for bash: source <(cairn completion bash)
_cairn() {
  local word=\${COMP_WORDS[COMP_CWORD]} first=\${COMP_WORDS[1]} words=''
  if [[ $word == -* ]]; then
    local name=$first
    case $first in ${Object.keys(nouns).join('|')}) name="$first \${COMP_WORDS[2]}" ;; esac
    case $name in
${options.join('\n')}
    esac
  elif ((COMP_CWORD == 1)); then
    words='${first.join(' ')}'
  elif ((COMP_CWORD == 2)); then
    case $first in
${verbs.join('\n')}
    esac
  fi
  COMPREPLY=($(compgen -W "$words" -- "$word"))
}
complete -o default -F _cairn cairn
`
}
