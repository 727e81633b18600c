import type { LayerSettings } from '@cairn/sdk'
import { parseTimeout } from '../mount/duration.ts'
import { parseQuota, withoutNone } from './quota.ts'

/** Options of commands that create a layer. */
export const newLayerOptions = {
  name: { kind: 'text', value: 'NAME', summary: 'The name' },
  id: { kind: 'text', value: 'ID', summary: 'The id (default: a new one)' },
  tag: { kind: 'list', value: 'K=V', summary: 'A tag to find it by' },
  message: { kind: 'text', short: 'm', value: 'TEXT', summary: 'A message: what the layer is for' },
  at: { kind: 'text', value: 'CHECKPOINT', summary: 'Start from this checkpoint of the parent' },
  'auto-checkpoint': {
    kind: 'text',
    value: 'D',
    summary: 'Make a checkpoint automatically after this time without a change: 30s',
  },
} as const

/** What was wished for beside its name and place. */
export function parseSettings(
  options: Parameters<typeof parseQuota>[0] & { readonly 'auto-checkpoint': string | undefined },
): LayerSettings {
  const autoCheckpointMs = parseTimeout(options['auto-checkpoint'], '--auto-checkpoint')
  return { ...withoutNone(parseQuota(options)), autoCheckpointMs }
}

/** Options of commands that merge two sides. */
export const mergeOptions = {
  message: { kind: 'text', short: 'm', value: 'TEXT', summary: 'A message' },
  merge: { kind: 'flag', summary: 'Merge text that both sides edited, line by line' },
} as const
