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
  const { connect, workspace, branch, at, path, readOnly, grant } = options
  const watch = new FreezeWatch()
  return {
    connect: watch.through(connect),
    isInDoubt: () => watch.isInDoubt,
    workspace,
    branch,
    at,
    path,
    mode: readOnly || !mayWrite(grant) ? 'read' : 'write',
    startsAtHead: true,
    ...(recovered && { resume: resumeFrom(recovered, pending) }),
  }
}
