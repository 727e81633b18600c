import type { NamedCommand } from '../../commands.ts'
import { firstWords, optionsOf, prefixes, verbsOf } from './words.ts'

/** Offered beside files: where a local path may stand, a remote one may, too. */
const values = `function __cairn_values
  set -l typed (commandline -opc) (commandline -ct)
  command cairn complete -- $typed[2..] 2>/dev/null
end
complete -c cairn -n 'not __fish_use_subcommand' -a '(__cairn_values)'
`

export function renderFish(loaded: readonly NamedCommand[]): string {
  const first = firstWords(loaded).map(
    ([word, summary]) =>
      `complete -c cairn -n __fish_use_subcommand -f -a ${word} -d ${quote(summary)}`,
  )
  const verbs = prefixes(loaded).flatMap((noun) => {
    const words = noun.split(' ')
    const seen = words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and ')
    const condition = quote(`${seen}; and test (count (commandline -opc)) -eq ${words.length + 1}`)
    return verbsOf(loaded, noun).map(
      ([verb, summary]) => `complete -c cairn -n ${condition} -f -a ${verb} -d ${quote(summary)}`,
    )
  })
  const lines = [...first, ...verbs, ...loaded.flatMap(options)]
  return `# cairn for fish: cairn completion fish | source\n${values}${lines.join('\n')}\n`
}

function options(named: NamedCommand): string[] {
  const words = named.name.split(' ')
  const condition = quote(words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and '))
  return optionsOf(named).map(([name, spec]) => {
    const short = spec.short === undefined ? '' : ` -s ${spec.short}`
    const value =
      spec.kind === 'choice'
        ? ` -x -a ${quote(spec.choices.join(' '))}`
        : " -r -a '(__cairn_values)'"
    const takes = spec.kind === 'flag' || spec.kind === 'times' ? '' : value
    return `complete -c cairn -n ${condition}${short} -l ${name}${takes} -d ${quote(spec.summary)}`
  })
}

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
