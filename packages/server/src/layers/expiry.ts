import type { LayerInfo } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { LayerRecord } from '../ports/layer-store.ts'

/**
 * When the collector deletes a layer that is over. A layer with a labelled checkpoint or with
 * layers on it stays.
 */
export async function describeExpiry(
  { layers, info, keep }: Pick<OpenWorkspace, 'layers' | 'info' | 'keep'>,
  { id, branch, closedAt }: LayerRecord,
): Promise<Pick<LayerInfo, 'expiresAt'>> {
  if (closedAt === undefined) return {}
  const labels = await layers.listLabels(branch)
  if (labels.some(({ label }) => label !== '')) return {}
  const children = await layers.list(info.id, { parent: id }, undefined, 1)
  if (children.length > 0) return {}
  return { expiresAt: new Date(Date.parse(closedAt) + keep.retentionMs).toISOString() }
}
