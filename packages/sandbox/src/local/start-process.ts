import { Readable, Writable } from 'node:stream'
import type { ReadableStream as NodeStream } from 'node:stream/web'
import type { Jail, JailCommand } from '../jail/jail.ts'
import { killGroup } from '../jail/kill-group.ts'
import type { SandboxProcess } from '../sandbox.ts'

/** As a shell tells of a program that SIGKILL ended. */
const killedCode = 137

/** A program in a jail, with streams as browsers and other runtimes have them. */
export async function startProcess(jail: Jail, command: JailCommand): Promise<SandboxProcess> {
  const program = await jail.start(command)
  const { pid } = program
  return {
    pid,
    ...(program.stdin && { stdin: Writable.toWeb(program.stdin) as WritableStream<Uint8Array> }),
    stdout: streamOf(program.stdout),
    stderr: streamOf(program.stderr),
    wait: async () => (await program.exit).code ?? killedCode,
    kill: () => killGroup(jail, pid),
  }
}

/** Node's own type of the same thing has one method more. */
function streamOf(readable: Readable): ReadableStream<Uint8Array> {
  return Readable.toWeb(readable) as NodeStream<Uint8Array> as ReadableStream<Uint8Array>
}
