import type { LayerChange } from '@cairn/sdk'
import type { z } from 'zod'
import type { change } from '../fields.ts'

type Change = z.output<typeof change>

export const changesShown = 500

/** What a tool gives of a change: bounded by the caller. */
export function shortenChange({ kind, path, from, added, removed }: LayerChange): Change {
  return {
    kind,
    path,
    ...(from === undefined ? {} : { from }),
    ...(added === undefined ? {} : { added }),
    ...(removed === undefined ? {} : { removed }),
  }
}

/** `modified /src/a.ts +3 -1`, one a line, and how many are left out. */
export function describeChanges(changes: readonly Change[], total: number): string {
  const lines = changes.map(({ kind, path, from, added, removed }) => {
    const old = from === undefined ? '' : `${from} -> `
    return `${kind} ${old}${path}${added === undefined ? '' : ` +${added} -${removed ?? 0}`}`
  })
  const left = total - changes.length
  if (left > 0) lines.push(`[${left} more paths. Give "path" to see a part of them.]`)
  return lines.join('\n')
}
