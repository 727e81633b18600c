import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Readable, Writable } from 'node:stream'
import { onTestFinished } from 'vitest'
import type { Cli } from '../src/cli.ts'
import { describeError } from '../src/describe-error.ts'
import { Output } from '../src/output/output.ts'
import { findInvocation, isJson, runProgram } from '../src/program.ts'

/** A directory for one test. */
export function temporaryDirectory(): string {
  const directory = mkdtempSync(join(tmpdir(), 'cairn-cli-'))
  onTestFinished(() => rmSync(directory, { recursive: true, force: true }))
  return directory
}

export interface Ran {
  readonly exitCode: number
  readonly stdout: string
  readonly stderr: string
}

export interface RunOptions {
  readonly home: string
  readonly env?: Record<string, string>
  readonly stdin?: string
  /** Pretends that the streams are a terminal. */
  readonly isTerminal?: boolean
}

/** What is written into it. */
export class Memory extends Writable {
  text = ''
  readonly isTTY: boolean

  constructor(isTerminal = false) {
    super()
    this.isTTY = isTerminal
  }

  override _write(chunk: Buffer, _: string, done: () => void): void {
    this.text += chunk.toString()
    done()
  }
}

/** Runs a command in this process. */
export async function runCli(argv: readonly string[], options: RunOptions): Promise<Ran> {
  const { isTerminal = false } = options
  const [stdout, stderr] = [new Memory(isTerminal), new Memory(isTerminal)]
  const [out, err] = [new Output(stdout), new Output(stderr)]
  const cli: Cli = {
    env: options.env ?? {},
    home: options.home,
    stdin: Object.assign(Readable.from([options.stdin ?? '']), { isTTY: isTerminal }),
    out,
    err,
    signal: new AbortController().signal,
    onHurry: () => undefined,
    isJson: isJson(argv),
  }
  let exitCode = 0
  try {
    await runProgram(findInvocation(argv), cli)
  } catch (error) {
    const described = describeError(error)
    await err.line(cli.isJson ? JSON.stringify(described.json) : described.text)
    exitCode = described.exitCode
  }
  await out.flush()
  await err.flush()
  return { exitCode, stdout: stdout.text, stderr: stderr.text }
}
