// The errors alone: a start that ends with help or a version need not load the rest.
import { CairnError } from '@cairn/sdk/errors'

/** Failures of the command line itself. Those of a server or the SDK have their rows there. */
export const cliErrorTable = {
  usage: { exitCode: 2, meaning: 'What was typed has no meaning.' },
  not_configured: {
    exitCode: 3,
    meaning: 'No server, key or workspace is known, or the saved ones cannot be read.',
  },
  serve_failed: { exitCode: 1, meaning: 'The server could not be started or stopped.' },
  not_mounted: { exitCode: 4, meaning: 'Nothing is mounted there.' },
  mount_failed: { exitCode: 1, meaning: 'The mount could not be made.' },
  mount_unhealthy: { exitCode: 1, meaning: 'The mount is there, but not as it should be.' },
  umount_failed: { exitCode: 1, meaning: 'The mount could not be ended; it is still there.' },
  not_drained: { exitCode: 1, meaning: 'Not everything is at the server yet; nothing is lost.' },
  check_failed: {
    exitCode: 1,
    meaning: 'Something that cairn needs is missing; each is told before.',
  },
  local_file: { exitCode: 1, meaning: 'The file system of this machine said no.' },
  sandbox_failed: { exitCode: 1, meaning: 'A sandbox, or the server of sandboxes, said no.' },
  damaged_store: { exitCode: 11, meaning: 'What a server keeps is not what it wrote.' },
  incomplete_copy: {
    exitCode: 1,
    meaning: 'Some of what was to be copied was not; each is told before.',
  },
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
