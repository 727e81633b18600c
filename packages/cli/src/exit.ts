import { errnoTable } from '@cairn/protocol'
import { isCairnError, rowOf } from '@cairn/sdk'
import { cliErrorTable } from './errors.ts'
import type { Output } from './output/output.ts'

/** How a process ends that a signal stopped: 128 and the signal's number. */
const signalCodes = { SIGINT: 130, SIGTERM: 143 } as const
type StopSignal = keyof typeof signalCodes
const brokenPipeCode = 141

/** The reason with which the signal of all commands aborts. */
class Stopped extends Error {
  readonly exitCode: number

  constructor(name: StopSignal) {
    super(`stopped by ${name}`)
    this.exitCode = signalCodes[name]
  }
}

export interface Edge {
  readonly out: Output
  readonly err: Output
  /** `fs cat`, or nothing as long as no command is known. */
  name: string
  isJson: boolean
}

/**
 * The one place that ends the process. Runs `main` to its end, prints what it throws and exits. A first Ctrl-C aborts
 * the signal, so that temporary files are removed; a second one ends everything at once.
 */
export async function exitAfter(
  edge: Edge,
  main: (signal: AbortSignal) => Promise<void>,
): Promise<never> {
  const stopping = new AbortController()
  for (const name of Object.keys(signalCodes) as StopSignal[])
    process.on(name, () => {
      if (stopping.signal.aborted) process.exit(signalCodes[name])
      stopping.abort(new Stopped(name))
    })
  // A write that fails rejects where it is waited for; without a listener it would end the process as well.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  try {
    await main(stopping.signal)
    await edge.out.flush()
    process.exit(0)
  } catch (error) {
    process.exit(await report(edge, error))
  }
}

/** Says what happened, and gives the exit code. */
async function report(edge: Edge, error: unknown): Promise<number> {
  if (error instanceof Stopped) return error.exitCode
  if (isSystemError(error) && error.code === 'EPIPE') return brokenPipeCode
  const described = describeError(error)
  try {
    await edge.out.flush()
    if (edge.isJson) await edge.err.json({ error: described.json })
    else await edge.err.line(`${['cairn', edge.name].join(' ').trim()}: ${described.text}`)
    await edge.err.flush()
  } catch {
    // Nobody is listening; the exit code still tells.
  }
  return described.exitCode
}

export interface Described {
  readonly text: string
  readonly json: { readonly code: string; readonly message: string; readonly hint?: string }
  readonly exitCode: number
}

/** Exported for its test. */
export function describeError(error: unknown): Described {
  if (isCairnError(error)) {
    const { code, message, hint, errno, requestId, subject } = error
    const json = { code, message, hint, errno, requestId, subject }
    return { text: message, json, exitCode: exitCodeOf(code) }
  }
  if (isSystemError(error)) {
    const message = describeSystemError(error)
    return { text: message, json: { code: 'local_file', message }, exitCode: exitCodeOf('local_file') }
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error)
  const text = `this is a bug in cairn: ${message}`
  return { text, json: { code: 'internal', message }, exitCode: exitCodeOf('internal') }
}

function exitCodeOf(code: string): number {
  if (Object.hasOwn(cliErrorTable, code))
    return cliErrorTable[code as keyof typeof cliErrorTable].exitCode
  return rowOf(code)?.exitCode ?? 1
}

function isSystemError(error: unknown): error is NodeJS.ErrnoException {
  return error instanceof Error && 'syscall' in error && 'code' in error
}

/** `cannot open ./a.txt: no such file or directory` for what Node says about local files. */
function describeSystemError({ code = '', syscall, path, message }: NodeJS.ErrnoException): string {
  const known = Object.entries(errnoTable).find(([name]) => name === code)?.[1][1]
  const what = [syscall, path].filter((part) => part !== undefined).join(' ')
  return `cannot ${what}: ${known ?? message}.`
}
