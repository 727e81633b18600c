import { type ChildProcess, spawn } from 'node:child_process'
import { accessSync, constants } from 'node:fs'
import { delimiter, join } from 'node:path'
import type { Cli } from '../cli.ts'

type Environment = Cli['env']

/** The option of commands whose output may be long. */
export const pagerOption = {
  'no-pager': { kind: 'flag', summary: 'Print to the terminal at once, without $PAGER' },
} as const

/** The command line of the pager: PAGER, or less where it is installed. Undefined where none is wanted. */
export function pagerCommand(env: Environment): string | undefined {
  const named = env['PAGER']
  if (named !== undefined) return named === '' || named === 'cat' ? undefined : named
  return isInstalled('less', env) ? 'less' : undefined
}

function isInstalled(program: string, env: Environment): boolean {
  return (env['PATH'] ?? '').split(delimiter).some((directory) => {
    try {
      accessSync(join(directory, program), constants.X_OK)
      return true
    } catch {
      return false
    }
  })
}

/** What fits on the screen ends at once (F), colours stay (R), and the text stays on the screen (X). */
export function spawnPager(command: string, env: Environment): ChildProcess {
  return spawn('/bin/sh', ['-c', command], {
    stdio: ['pipe', 'inherit', 'inherit'],
    env: { LESS: 'FRX', ...env },
  })
}
