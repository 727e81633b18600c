import { type ChildProcess, type ChildProcessByStdio, spawn } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { buffer, text } from 'node:stream/consumers'
import type { Cli } from '../cli.ts'
import { cliError } from '../errors.ts'

export interface GitOptions {
  readonly cwd?: string | undefined
  readonly input?: string | Uint8Array
  /** Shows git's own progress and lets it ask for a password. */
  readonly isShown?: boolean
  readonly env?: Readonly<Record<string, string>>
}

/** What git prints. Rejects with what git said. */
export async function runGit(
  cli: Pick<Cli, 'env' | 'signal' | 'isJson'>,
  args: readonly string[],
  { cwd, input, isShown = false, env = {} }: GitOptions = {},
): Promise<Buffer> {
  const isLoud = isShown && !cli.isJson
  const child = spawn('git', args, {
    cwd,
    env: { ...cli.env, ...env },
    stdio: [isLoud ? 'inherit' : 'pipe', 'pipe', isLoud ? 'inherit' : 'pipe'],
    signal: cli.signal,
  })
  child.stdin?.on('error', () => {})
  child.stdin?.end(input)
  const said = child.stderr ? text(child.stderr) : Promise.resolve('')
  const [output, code] = await Promise.all([buffer(child.stdout!), exitOf(child, args)])
  if (code === 0) return output
  cli.signal.throwIfAborted()
  throw gitFailed(args, (await said).trim() || `it ended with ${code}`)
}

/** A git that runs beside us: it reads lines and answers them. */
export function startGit(
  cli: Pick<Cli, 'env' | 'signal'>,
  args: readonly string[],
  cwd: string,
): ChildProcessByStdio<Writable, Readable, null> {
  const child = spawn('git', args, {
    cwd,
    env: { ...cli.env },
    stdio: ['pipe', 'pipe', 'ignore'],
    signal: cli.signal,
  })
  child.on('error', () => {})
  child.stdin.on('error', () => {})
  return child
}

function exitOf(child: ChildProcess, args: readonly string[]): Promise<number> {
  return new Promise((resolve, reject) => {
    child.once('close', (code: number | null) => resolve(code ?? 1))
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(
        error.code === 'ENOENT'
          ? cliError('local_file', `run git ${args[0]}`, 'git is not installed', 'Install git.')
          : error,
      ),
    )
  })
}

export function gitFailed(args: readonly string[], why: string): Error {
  const words = args.filter((arg) => !arg.startsWith('-'))
  const verb = words.find((word) => /^[a-z][a-z-]+$/.test(word)) ?? 'git'
  return cliError('local_file', `run git ${verb}`, why, 'Check what git says, and try again.')
}
