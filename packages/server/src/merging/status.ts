import { diffPaths, mapPaced, ownBytesOf } from '@cairn/core'
import { formatHash, type LayerStatus } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import { describeChange, describeConflict, describeLayer } from '../points/describe.ts'
import { describeExpiry } from '../layers/expiry.ts'
import { noteState } from '../layers/layers.ts'
import { baseUsage, describeQuota } from '../workspaces/quotas.ts'
import { conflictsOf, mergeSidesOf } from './merge-sides.ts'
import type { Sight } from './overlaps.ts'
import { Radar } from './radar.ts'
import { findRealLayer } from '../points/references.ts'

/** What a layer has, how it stands to its parent, and who else works on the same paths. */
export async function statusOf(
  workspace: OpenWorkspace,
  reference: string,
  sight?: Sight,
): Promise<LayerStatus> {
  const place = await findRealLayer(workspace, reference, 'show the status of')
  const standing = await mergeSidesOf(workspace, place)
  const record = await noteState(workspace, place)
  const { base, layer, target, seq } = standing
  const changes = await diffPaths(workspace.stores.nodes, base, layer)
  const isOpen = record.state === 'open' || record.state === 'conflicted'
  const overlaps = isOpen ? await new Radar(workspace, place, sight).overlaps() : []
  const conflicts = isOpen ? await conflictsOf(workspace, standing) : []
  const settings = await workspace.layers.findSettings(workspace.info.id, place.id)
  const { autoCheckpointMs } = settings
  const [used, began] = [await place.branch.head.usage(), await baseUsage(workspace, place.branch)]
  return {
    ...describeLayer(record),
    ...(await describeExpiry(workspace, record)),
    ...describeQuota(settings),
    used: { bytes: used.bytes - began.bytes, files: used.files - began.files },
    ...(autoCheckpointMs === undefined ? {} : { autoCheckpointMs }),
    head: { root: formatHash(layer.root), seq },
    base: { root: formatHash(base.root) },
    bytes: await ownBytesOf(workspace.stores.nodes, base, layer),
    changes: await mapPaced(workspace.stores.nodes.pacer, changes, describeChange),
    behind: isOpen && base.root !== target.root,
    conflicts: conflicts.map(describeConflict),
    overlaps,
  }
}
