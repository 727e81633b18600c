import type { CommandResult } from 'e2b'
import type { ExecResult } from '../sandbox.ts'

const pausesMs = [1000, 2000]

/** A command that failed is a result, too. E2B's errors are told apart by what they carry: two copies may be loaded. */
export async function toResult(running: Promise<CommandResult>): Promise<ExecResult> {
  try {
    const { exitCode, stdout, stderr } = await running
    return { code: exitCode, stdout, stderr }
  } catch (error) {
    if (isRateLimit(error)) throw error
    const { exitCode, stdout, stderr, message } = error as Partial<CommandResult> & Error
    if (typeof exitCode !== 'number') {
      const late = (error as Error).name === 'TimeoutError' ? ({ stopped: 'timeout' } as const) : {}
      return { code: 1, stdout: '', stderr: message, ...late }
    }
    // E2B says -1 of what a signal ended.
    return { code: exitCode < 0 ? 137 : exitCode, stdout: stdout ?? '', stderr: stderr || message }
  }
}

/** Three times in all, and only when E2B says that it was asked too often. */
export async function withRetries<Result>(run: () => Promise<Result>): Promise<Result> {
  for (const pauseMs of pausesMs) {
    try {
      return await run()
    } catch (error) {
      if (!isRateLimit(error)) throw error
      await new Promise((resolve) => setTimeout(resolve, pauseMs))
    }
  }
  return run()
}

function isRateLimit(error: unknown): boolean {
  const { name, status, statusCode } = error as Record<string, unknown>
  return name === 'RateLimitError' || status === 429 || statusCode === 429
}

/** The machine does not exist any more. */
export function isGone(error: unknown): boolean {
  const { name } = error as Error
  return name === 'SandboxNotFoundError' || name === 'NotFoundError'
}
