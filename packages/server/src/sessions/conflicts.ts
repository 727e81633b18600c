import { type Branch, type Conflict, isClosedState } from '@cairn/core'
import { allows, formatPath, Writer } from '@cairn/protocol'
import type { SessionScope } from '../access/session-scope.ts'
import { conflictsOf, mergeSidesOf } from '../merging/merge-sides.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'

interface Asker {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly scope?: SessionScope
}

/** What a commit of the branch would meet now, as far as its session may know: kind and path of each. */
export async function answerConflicts(asker: Asker): Promise<Uint8Array> {
  const { scope } = asker
  const found = await findConflicts(asker)
  const shown = found.filter(
    ({ path }) => !scope || allows(scope.grant, 'read', `/${path.join('/')}`),
  )
  const writer = new Writer().varint(shown.length)
  for (const { kind, path } of shown) writer.text(kind).text(formatPath(path))
  return writer.finish()
}

async function findConflicts({ workspace, branch }: Asker): Promise<readonly Conflict[]> {
  const record = await workspace.layers.findByBranch(branch.id)
  if (!record || isClosedState(branch.head.position.state)) return []
  const place = { id: record.id, branch, record }
  return conflictsOf(workspace, await mergeSidesOf(workspace, place))
}
