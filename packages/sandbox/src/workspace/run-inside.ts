import type { Readable } from 'node:stream'
import type { Jail, JailCommand } from '../jail/jail.ts'
import { killGroup } from '../jail/kill-group.ts'

export interface RunInsideOptions {
  readonly timeoutMs?: number
  readonly stdin?: string | Uint8Array
  /** The limit of output and of errors, each. A program that prints more is ended. */
  readonly bytesMax?: number
}

export interface Ran {
  readonly code: number
  readonly stdout: string
  /** The same before it was read as text. */
  readonly bytes: Uint8Array
  readonly stderr: string
  /** Why it was ended before its time. */
  readonly stopped?: 'timeout' | 'output'
}

/** As a shell tells of a program that a signal ended: 128 and its number; only this one is ours to send. */
const killedCode = 137

/** Runs a program in a jail to its end, and that of everything that holds its output open. */
export async function runInside(
  jail: Jail,
  command: JailCommand,
  { timeoutMs, stdin, bytesMax = 1 << 30 }: RunInsideOptions = {},
): Promise<Ran> {
  const program = await jail.start({ ...command, stdin: stdin === undefined ? 'none' : 'pipe' })
  let stopped: Ran['stopped']
  const stop = (why: NonNullable<Ran['stopped']>): void => {
    stopped ??= why
    void killGroup(jail, program.pid)
  }
  program.stdin?.end(stdin)
  const timer = timeoutMs === undefined ? undefined : setTimeout(stop, timeoutMs, 'timeout')
  const gathered = [program.stdout, program.stderr].map((stream) =>
    gather(stream, bytesMax, () => stop('output')),
  )
  const [stdout, stderr] = await Promise.all(gathered)
  const { code } = await program.exit
  clearTimeout(timer)
  return {
    code: code ?? killedCode,
    stdout: stdout!.toString(),
    bytes: stdout!,
    stderr: stderr!.toString(),
    ...(stopped !== undefined && { stopped }),
  }
}

function gather(stream: Readable, bytesMax: number, onTooMuch: () => void): Promise<Buffer> {
  const chunks: Buffer[] = []
  let room = bytesMax
  return new Promise((resolve) => {
    stream.on('data', (chunk: Buffer) => {
      if (chunk.length > room) onTooMuch()
      if (room > 0) chunks.push(chunk.subarray(0, room))
      room = Math.max(0, room - chunk.length)
    })
    stream.once('close', () => resolve(Buffer.concat(chunks)))
  })
}
