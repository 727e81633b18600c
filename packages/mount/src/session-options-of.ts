import type { MountOptions } from './mount-options.ts'
import type { Recovered } from './outbox/recover.ts'
import { resumeFrom, type SealedBatch } from './outbox/seal-pending.ts'
import { FreezeWatch } from './session/freeze-watch.ts'
import type { SessionOptions } from './session/options.ts'
import { mayWrite } from './sync/writer.ts'

/** The session that a mount opens or resumes. */
export function sessionOptionsOf(
  options: MountOptions,
  recovered: Recovered | undefined,
  pending: readonly SealedBatch[],
): Omit<SessionOptions, 'clock'> {
  const { connect, workspace, branch, at, path } = options
  const watch = new FreezeWatch()
  return {
    connect: watch.through(connect),
    isInDoubt: () => watch.isInDoubt,
    workspace,
    branch,
    at,
    path,
    mode: modeOf(options, recovered),
    startsAtHead: true,
    ...(recovered && { resume: resumeFrom(recovered, pending) }),
  }
}

/**
 * Only a token that may write makes a writer: others must cost nothing. The kernel may remember names that a process
 * before this one told it; only the log says which of them change, so such a mount cannot give single directories back.
 */
export function modeOf(
  { readOnly, grant }: Pick<MountOptions, 'readOnly' | 'grant'>,
  recovered: Recovered | undefined,
): SessionOptions['mode'] {
  if (readOnly || !mayWrite(grant)) return 'read'
  return recovered ? 'write' : 'share'
}
