import { execFile } from 'node:child_process'
import { promisify } from 'node:util'

const execute = promisify(execFile)

/** A program of the host's; gives what it printed. Throws with what it complained of. */
export async function runProgram(file: string, args: readonly string[]): Promise<string> {
  const { stdout } = await execute(file, args, { maxBuffer: 64 << 20 })
  return stdout
}
