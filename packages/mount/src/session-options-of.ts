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
    mode: isReader(options) ? 'read' : modeOfWriter(recovered),
    startsAtHead: true,
    ...(recovered && { resume: resumeFrom(recovered, pending) }),
  }
}

/** One whose token lets it write nothing is no writer: it must not cost others anything. */
export function isReader({ readOnly, grant }: Pick<MountOptions, 'readOnly' | 'grant'>): boolean {
  return readOnly || !mayWrite(grant)
}

/**
 * The kernel may remember names that a process before this one told it. Only the log says which of them change, so this
 * mount cannot give single directories back.
 */
function modeOfWriter(recovered: Recovered | undefined): 'write' | 'share' {
  return recovered ? 'write' : 'share'
}
