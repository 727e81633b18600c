import { spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Cli } from '../cli.ts'
import { cannotRun, ChildEnded } from '../errors.ts'

/** What opens Cairn. A command that was given a secret need not be able to fetch the others. */
const credentials = /^(?:CAIRN|DRIVE9)_(?:API_KEY|VAULT_TOKEN|MASTER_KEY)$/

/** Runs a command with these variables in its environment and in no other. Throws its exit code, unless that is 0. */
export async function runCommand(
  cli: Cli,
  [file = '', ...args]: readonly string[],
  variables: ReadonlyMap<string, string>,
): Promise<void> {
  const kept = Object.entries(cli.env).filter(([name]) => !credentials.test(name))
  const env = { ...Object.fromEntries(kept), ...Object.fromEntries(variables) }
  const child = spawn(file, args, { env, stdio: 'inherit' })
  const stop = (): void => void child.kill('SIGTERM')
  cli.signal.addEventListener('abort', stop, { once: true })
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('exit', (code, signal) => resolve(code ?? 128 + constants.signals[signal!]))
    })
    if (exitCode !== 0) throw new ChildEnded(exitCode)
  } catch (error) {
    if (error instanceof ChildEnded) throw error
    throw cannotRun(file, error)
  } finally {
    cli.signal.removeEventListener('abort', stop)
  }
}
