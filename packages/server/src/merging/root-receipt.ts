import {
  type Author,
  type Batch,
  type Branch,
  decodeInSteps,
  diffPaths,
  mapPaced,
  type Receipt,
  sessionIds,
} from '@cairn/core'
import { formatHash, type RootReceipt } from '@cairn/protocol'
import { isoTime } from '../ports/clock.ts'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Asker } from '../workspaces/path-changes.ts'
import { describeChange } from '../points/describe.ts'

/** The author of a change that is done once under a key. */
export function authorOf(
  { clock }: Pick<OpenWorkspace, 'clock'>,
  { actor, toolCall }: Asker,
  key: string,
): Author {
  const session = sessionIds.operationSession(key)
  return { actor, session, number: 1, time: clock.now(), toolCall }
}

/** What a batch that changed a root did. */
export async function rootReceipt(
  workspace: OpenWorkspace,
  layer: string,
  branch: Branch,
  { seq }: Pick<Receipt, 'seq'>,
): Promise<RootReceipt> {
  const { body, actor, time } = await readBatch(workspace, branch, seq)
  if (body.type !== 'root') throw new Error(`batch ${seq} of ${branch.id} changes no root`)
  const { before, after } = body.change
  const paths = await diffPaths(workspace.stores.nodes, before, after)
  return {
    layer,
    seq,
    before: formatHash(before.root),
    after: formatHash(after.root),
    paths: await mapPaced(workspace.stores.nodes.pacer, paths, describeChange),
    actor,
    time: isoTime(time),
  }
}

export async function readBatch(
  { stores }: Pick<OpenWorkspace, 'stores'>,
  { id }: Branch,
  seq: number,
): Promise<Batch> {
  const [row] = await stores.log.read(id, seq - 1, 1)
  return stores.nodes.run(decodeInSteps(row!.bytes))
}
