import type {
  CheckpointInfo,
  LayerChange,
  LayerDecision,
  LayerInfo,
  LayerOverlap,
} from '@cairn/sdk'
import { usageError } from '../errors.ts'
import { formatName } from '../output/format.ts'

/** What people call it. */
export function layerName({ id, name }: Pick<LayerInfo, 'id' | 'name'>): string {
  return name ?? id
}

export function formatTags(tags: LayerInfo['tags']): string {
  return Object.entries(tags)
    .map(([key, value]) => `${key}=${value}`)
    .join(' ')
}

/** `agent=a`; the value may hold anything. */
export function parseTags(texts: readonly string[]): Record<string, string> {
  return Object.fromEntries(
    texts.map((text) => {
      const [, key, value] = /^([^=]+)=([^]*)$/.exec(text) ?? []
      if (key !== undefined && value !== undefined) return [key, value]
      throw usageError(`take the tag ${text}`, 'it is no tag', 'Give KEY=VALUE.')
    }),
  )
}

const letters: Readonly<Record<LayerChange['kind'], string>> = {
  added: 'A',
  modified: 'M',
  deleted: 'D',
  renamed: 'R',
  mode: 'P',
  type: 'T',
}

/** `M  /repo/a.ts`, as git has it; P stands for permissions and other attributes. */
export function formatChange(change: LayerChange, isTerminal: boolean): string {
  const slash = change.fileKind === 'directory' ? '/' : ''
  const path = formatName(change.path, isTerminal) + slash
  const from = change.from === undefined ? '' : `${formatName(change.from, isTerminal)}${slash} -> `
  return `${letters[change.kind]}  ${from}${path}`
}

const taken: Readonly<Record<LayerDecision['take'], string>> = {
  layer: "the layer's",
  target: 'what was there',
  content: 'other content',
}

/** `decided /repo/a.ts (edit/edit): the layer's` */
export function formatDecision({ path, kind, take }: LayerDecision, isTerminal: boolean): string {
  return `decided ${formatName(path, isTerminal)} (${kind}): ${taken[take]}`
}

/** `also renamed by fix-auth-b: /repo/src -> /repo/lib` */
export function formatOverlap(overlap: LayerOverlap, isTerminal: boolean): string {
  const { path, from, kind, name, with: other } = overlap
  const who = name ?? other ?? 'another layer'
  const old = from === undefined ? '' : `${formatName(from, isTerminal)} -> `
  return `also ${kind} by ${who}: ${old}${formatName(path, isTerminal)}`
}

/** `label (id)` */
export function checkpointName({ id, label }: Pick<CheckpointInfo, 'id' | 'label'>): string {
  return label === '' ? id : `${label} (${id})`
}

/** When checkpoints are made by themselves. */
export function formatQuiet(quietMs: number | undefined): string {
  return quietMs === undefined
    ? 'none by itself'
    : `by itself after ${quietMs / 1000} s without a change`
}

/** `1 path`, `2 paths` */
export function countPaths(count: number): string {
  return `${count} ${count === 1 ? 'path' : 'paths'}`
}
