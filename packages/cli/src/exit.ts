import { describeError, isSystemError } from './describe-error.ts'
import { endProcess } from './end-process.ts'
import { ChildEnded } from './errors.ts'
import type { Cli } from './cli.ts'
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
 * the signal, so that temporary files are removed; a second one ends everything at once, or after what was said to be done
 * then; a third one in any case.
 */
export async function exitAfter(
  edge: Edge,
  main: (signal: AbortSignal, onHurry: Cli['onHurry']) => Promise<void>,
): Promise<never> {
  const stopping = new AbortController()
  let tidy: (() => Promise<void>) | undefined
  for (const name of Object.keys(signalCodes) as StopSignal[])
    process.on(name, () => {
      const end = (): never => endProcess(signalCodes[name])
      if (!stopping.signal.aborted) return stopping.abort(new Stopped(name))
      const tidying = tidy?.()
      tidy = undefined
      if (tidying === undefined) end()
      else tidying.then(end, end)
    })
  // A write that fails rejects where it is waited for; without a listener it would end the process as well.
  process.stdout.on('error', () => {})
  process.stderr.on('error', () => {})
  try {
    await main(stopping.signal, (todo) => (tidy = todo))
    await edge.out.end()
    endProcess(0)
  } catch (error) {
    // Whatever an abort makes of a command, the reason is the abort.
    const { aborted, reason } = stopping.signal
    const code = await report(edge, aborted ? reason : error)
    // The user of a pager looks at what there is, and leaves when they like.
    await edge.out.end().catch(() => undefined)
    endProcess(code)
  }
}

/** Says what happened, and gives the exit code. */
async function report(edge: Edge, error: unknown): Promise<number> {
  if (error instanceof Stopped || error instanceof ChildEnded) return error.exitCode
  if (isSystemError(error) && error.code === 'EPIPE') return brokenPipeCode
  const described = describeError(error)
  try {
    await edge.out.flush()
    if (edge.isJson) await edge.err.json({ error: described.json })
    else {
      const name = edge.err.paint(['cairn', edge.name].join(' ').trim(), 'red')
      await edge.err.line(`${name}: ${described.text}`)
    }
  } catch {
    // The reader has gone; the exit code still reports the failure.
  }
  return described.exitCode
}
