import { checks, countFailedChecks } from './checks.mjs'
import { install } from './install.mjs'

const tidy = {
  command: 'vitest run scripts/tidy',
  remedy: 'Each message names its remedy.',
}

install()
if (countFailedChecks([...checks, tidy]) > 0) process.exitCode = 1
