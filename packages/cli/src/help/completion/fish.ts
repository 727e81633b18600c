import type { NamedCommand } from '../../commands.ts'
import { firstWords, optionsOf, prefixes, verbsOf } from './words.ts'

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
  return `# cairn for fish: cairn completion fish | source\n${lines.join('\n')}\n`
}

function options(named: NamedCommand): string[] {
  const words = named.name.split(' ')
  const condition = quote(words.map((word) => `__fish_seen_subcommand_from ${word}`).join('; and '))
  return optionsOf(named).map(([name, spec]) => {
    const short = spec.short === undefined ? '' : ` -s ${spec.short}`
    const value = spec.kind === 'choice' ? ` -x -a ${quote(spec.choices.join(' '))}` : ' -r'
    const takes = spec.kind === 'flag' ? '' : value
    return `complete -c cairn -n ${condition}${short} -l ${name}${takes} -d ${quote(spec.summary)}`
  })
}

function quote(text: string): string {
  return `'${text.replace(/['\\]/g, '\\$&')}'`
}
