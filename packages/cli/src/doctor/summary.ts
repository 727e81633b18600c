import type { Check } from './check.ts'

/** What each command needs of the checks. The rest does not matter to it. */
const needs = {
  'cairn serve': ['node'],
  'cairn fs': ['node', 'server', 'key'],
  'cairn mount': [
    'node',
    'place',
    'transport',
    'device',
    'fusermount3',
    'kernel',
    'cache',
    'server',
    'key',
  ],
} as const

/** `works: cairn serve, cairn fs`, and `does not work: cairn mount (device)`. */
export function summarise(checks: readonly Check[]): string[] {
  const failed = new Set(checks.filter(({ state }) => state === 'fail').map(({ name }) => name))
  const hasServer = checks.some(({ name, state }) => name === 'server' && state === 'ok')
  const works: string[] = []
  const broken: string[] = []
  for (const [command, names] of Object.entries(needs)) {
    const why = names.filter((name) => failed.has(name))
    if (names.some((name) => name === 'server') && !hasServer && why.length === 0)
      why.push('server')
    if (why.length === 0) works.push(command)
    else broken.push(`${command} (${why.join(', ')})`)
  }
  return [
    ...(works.length > 0 ? [`works: ${works.join(', ')}`] : []),
    ...(broken.length > 0 ? [`does not work: ${broken.join(', ')}`] : []),
  ]
}
