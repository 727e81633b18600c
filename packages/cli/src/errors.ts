import { CairnError, type ErrorCode } from '@cairn/protocol'

export function cliError(
  code: ErrorCode,
  what: string,
  reason: string,
  hint: string,
  cause?: unknown,
): CairnError {
  return new CairnError(code, { what, reason, hint, cause })
}

/** A command that was run for the user ended so; it has said itself why. */
export class ChildEnded extends Error {
  readonly exitCode: number

  constructor(exitCode: number) {
    super(`the command ended with ${exitCode}`)
    this.exitCode = exitCode
  }
}

/** Something was typed that has no meaning. */
export function usageError(what: string, reason: string, hint: string): CairnError {
  return cliError('usage', what, reason, hint)
}

/** A command that the user named could not be started. */
export function cannotRun(file: string, cause: unknown): CairnError {
  const { code, message } = cause as NodeJS.ErrnoException
  const reason = code === 'ENOENT' ? 'there is no such program on this machine' : message
  return cliError('local_file', `run ${file}`, reason, 'Check its name, or give its path.', cause)
}
