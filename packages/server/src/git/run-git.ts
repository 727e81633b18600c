import { type ChildProcessWithoutNullStreams, spawn } from 'node:child_process'
import { buffer, text } from 'node:stream/consumers'
import { CairnError } from '@cairn/protocol'

/** Only what is stored in the repository decides: no configuration of the user who runs the server. */
const ownEnv = {
  GIT_CONFIG_NOSYSTEM: '1',
  GIT_CONFIG_GLOBAL: '/dev/null',
  GIT_TERMINAL_PROMPT: '0',
}

export function startGit(
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): ChildProcessWithoutNullStreams {
  const child = spawn('git', args, {
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
    child.once('error', (error: NodeJS.ErrnoException) =>
      reject(error.code === 'ENOENT' ? missing(what) : error),
    )
    child.once('close', resolve)
  })
  if (code === 0) return
  const reason = `git ended with ${code}: ${(await said).trim()}`
  throw new CairnError('internal', { what, reason })
}

export async function runGit(args: readonly string[], what: string, input = ''): Promise<string> {
  const child = startGit(args)
  child.stdin.end(input)
  const [output] = await Promise.all([buffer(child.stdout), whenDone(child, what)])
  return output.toString()
}

function missing(what: string): CairnError {
  return new CairnError('not_found', {
    what,
    reason: 'the server has no git program',
    hint: 'Install git on the machine of the server.',
  })
}
