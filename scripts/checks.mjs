import { run } from './run.mjs'

/** What can be known of the code without running it, quickest first. */
export const checks = [
  { command: 'oxfmt --check', remedy: 'Run: npm run format' },
  {
    command: 'oxlint',
    remedy: 'Fix the code; a rule is switched off only with its reason beside it.',
  },
  { command: 'tsc -b', remedy: 'Fix the types.' },
  { command: 'knip', remedy: 'Delete unused exports; declare what a package imports.' },
]

/** Runs all of them, however many fail, so that one run tells everything. Gives the number that failed. */
export function countFailedChecks(list = checks) {
  return list.filter(({ command, remedy }) => {
    console.log(`> ${command}`)
    const [tool = '', ...args] = command.split(' ')
    const passed = run(tool, args)
    if (!passed) console.error(`${command} failed. ${remedy}\n`)
    return !passed
  }).length
}
