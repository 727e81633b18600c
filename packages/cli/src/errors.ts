import { CairnError } from '@cairn/sdk'

/** Failures of the command line itself. Those of a server or the SDK have their rows there. */
export const cliErrorTable = {
  usage: { exitCode: 2 },
  not_configured: { exitCode: 3 },
  local_file: { exitCode: 1 },
  incomplete_copy: { exitCode: 1 },
} as const

type CliErrorCode = keyof typeof cliErrorTable

export function cliError(
  code: CliErrorCode,
  what: string,
  reason: string,
  hint: string,
  cause?: unknown,
): CairnError {
  return new CairnError(code, { what, reason, hint, cause })
}

/** Something was typed that has no meaning. */
export function usageError(what: string, reason: string, hint: string): CairnError {
  return cliError('usage', what, reason, hint)
}
