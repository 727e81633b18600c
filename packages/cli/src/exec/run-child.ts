import { type ChildProcess, spawn } from 'node:child_process'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { cannotRun } from '../errors.ts'

export interface ChildOptions {
  readonly cwd: string
  readonly env: Readonly<Record<string, string | undefined>>
  readonly timeoutMs: number | undefined
  readonly signal: AbortSignal
  /** Without one the command has this process's own output. */
  readonly onOutput?: ((text: string, from: 'stdout' | 'stderr') => void) | undefined
  /** Its standard output is this process's error output: the other one is for the receipt. */
  readonly isJson: boolean
}

export interface ChildResult {
  readonly exitCode: number
  readonly timedOut: boolean
}

const timedOutCode = 124
const graceMs = 5000

/** Runs a command to its end and ends what it left behind, so that nothing writes to the directory afterwards. */
export async function runChild(
  [file = '', ...args]: readonly string[],
  { cwd, env, timeoutMs, signal, onOutput, isJson }: ChildOptions,
): Promise<ChildResult> {
  // In a terminal it stays in our group: a program in another one could not read from it.
  const detached = process.stdin.isTTY !== true
  const stdio = onOutput
    ? (['ignore', 'pipe', 'pipe'] as const)
    : (['inherit', isJson ? 2 : 'inherit', 'inherit'] as const)
  const child: ChildProcess = spawn(file, args, {
    cwd,
    env: { ...env },
    detached,
    stdio: [...stdio],
  })
  for (const from of ['stdout', 'stderr'] as const)
    (child[from] as Readable | null)
      ?.setEncoding('utf8')
      .on('data', (text: string) => onOutput?.(text, from))
  const stop = stopper(child, detached)
  const late = AbortSignal.any([
    signal,
    ...(timeoutMs === undefined ? [] : [AbortSignal.timeout(timeoutMs)]),
  ])
  late.addEventListener('abort', stop.begin, { once: true })
  try {
    const exitCode = await new Promise<number>((resolve, reject) => {
      child.once('error', reject)
      child.once('close', (code, by) => resolve(code ?? 128 + constants.signals[by!]))
    })
    const timedOut = late.aborted && !signal.aborted
    return { exitCode: timedOut ? timedOutCode : exitCode, timedOut }
  } catch (error) {
    throw cannotRun(file, error)
  } finally {
    late.removeEventListener('abort', stop.begin)
    stop.end()
  }
}

function stopper(child: ChildProcess, isGroup: boolean): { begin: () => void; end: () => void } {
  let forcing: NodeJS.Timeout | undefined
  const send = (name: NodeJS.Signals): void => {
    if (child.pid === undefined) return
    try {
      process.kill(isGroup ? -child.pid : child.pid, name)
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error
    }
  }
  return {
    begin: () => {
      send('SIGTERM')
      forcing = setTimeout(() => send('SIGKILL'), graceMs)
    },
    end: () => {
      clearTimeout(forcing)
      if (isGroup) send('SIGKILL')
    },
  }
}
