import { spawn } from 'node:child_process'
import { tmpdir } from 'node:os'
import type { Cli } from '../../cli.ts'
import { cliError } from '../../errors.ts'
import { thisProgram } from '../../this-program.ts'
import type { LocalRepository } from './local-repository.ts'

/** Set for a process that another command started, and that is told by it what to do. */
const startedByVariable = 'CAIRN_HYDRATES'

interface Begin {
  /** Which it uses and removes. */
  readonly repository: LocalRepository | undefined
}

/**
 * Starts a process that fetches what a clone lacks, and that outlives this command. `words` are those of `cairn git
 * hydrate`. Resolves when others can see that it runs.
 */
export async function beginInBackground(
  cli: Cli,
  words: readonly string[],
  repository: LocalRepository | undefined,
): Promise<void> {
  const { file, args } = thisProgram('git', 'hydrate', ...words)
  const child = spawn(file, args, {
    detached: true,
    // Not where the user stands: that mount could not be unmounted.
    cwd: tmpdir(),
    stdio: ['ignore', 'ignore', 'pipe', 'ipc'],
    env: { ...cli.env, GIT_TERMINAL_PROMPT: '0', [startedByVariable]: '1' },
  })
  let said = ''
  child.stderr!.on('data', (bytes: Buffer) => (said += bytes.toString()))
  const begin: Begin = { repository }
  // Where it could not be started, that is told as the end of it.
  child.send(begin, () => {})
  const hasBegun = await new Promise<boolean>((resolve) => {
    child.once('message', () => resolve(true))
    child.once('close', () => resolve(false))
    child.once('error', (error) => {
      said = error.message
      resolve(false)
    })
  })
  if (child.connected) child.disconnect()
  child.stderr!.destroy()
  child.unref()
  if (hasBegun) return
  throw cliError(
    'local_file',
    'fetch objects in the background',
    said.trim() || 'the process ended without a word',
    'Fetch them in the foreground, with: cairn git hydrate DIRECTORY.',
  )
}

export function isStartedInBackground({ env }: Pick<Cli, 'env'>): boolean {
  return env[startedByVariable] !== undefined && process.send !== undefined
}

/** What the command that started this process wants. Undefined if it has ended without a word. */
export function hearBegin(): Promise<Begin | undefined> {
  return new Promise((resolve) => {
    process.once('message', (message) => resolve(message as Begin))
    process.once('disconnect', () => resolve(undefined))
  })
}

/** A command that was killed meanwhile hears nothing; the work goes on. */
export async function tellBegun(): Promise<void> {
  if (process.connected)
    await new Promise<void>((resolve) => process.send!('begun', () => resolve()))
}
