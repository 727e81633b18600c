import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { buffer, text } from 'node:stream/consumers'
import { CairnError } from '@cairn/protocol'

/** Only what is stored in the repository decides: no configuration of the user who runs the server. */
const ownEnv = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
}

/** Git itself wants less: what it reads of packs is mapped, and does not count. */
const memoryMiB = 2048
/** For what was pushed. Blobs over 64 MiB are not read into memory. */
export const pushedMemoryMiB = 512

export function startGit(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
  memory: number = memoryMiB,
): ChildProcessWithoutNullStreams {
  // A few hundred bytes of deltas unpack to gigabytes in git's memory.
  const limited = `ulimit -d ${memory << 10} 2>/dev/null; exec git "$@"`
  const child = spawn('/bin/sh', ['-c', limited, 'git', ...args], {
    env: { PATH: process.env['PATH'], ...ownEnv, ...env },
    stdio: 'pipe',
  })
  // `whenDone` reports the failure. Writing to a git that has ended is no failure of its own.
  child.stdin.on('error', () => {})
  return child
}

/** Resolves when it has ended well; rejects with what it said. */
export async function whenDone(child: ChildProcessWithoutNullStreams, what: string): Promise<void> {
  const said = text(child.stderr)
  const code = await new Promise<number | null>((resolve, reject) => {
    child.once('error', reject)
    child.once('close', resolve)
  })
  if (code === 0) return
  // The shell's word for a program that is not there.
  if (code === 127) throw missing(what)
  const words = (await said).trim()
  if (/out of memory/i.test(words)) throw tooLarge(what)
  const reason = `git ended with ${code}: ${words}`
  throw new CairnError('internal', { what, reason })
}

export async function runGit(args: readonly string[], what: string, input = ''): Promise<string> {
  const child = startGit(args)
  child.stdin.end(input)
  const [output] = await Promise.all([buffer(child.stdout), whenDone(child, what)])
  return output.toString()
}

function tooLarge(what: string): CairnError {
  return new CairnError('too_large', {
    what,
    reason: 'git needs too much memory for it',
    hint: 'Push it in parts, or use cairn fs import.',
  })
}

function missing(what: string): CairnError {
  return new CairnError('not_found', {
    what,
    reason: 'the server has no git program',
    hint: 'Install git on the machine of the server.',
  })
}
