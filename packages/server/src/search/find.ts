import type { Inode, Kind } from '@cairn/core'
import { formatPath, type Ino, type Name, type Tags } from '@cairn/protocol'
import { entryOf } from '../files/stat.ts'
import { tagsOf } from '../files/tags.ts'
import { walkFrom, type WalkTop, writeWalkCursor } from '../files/walk.ts'
import { nanoseconds } from '../ports/clock.ts'
import type { GlobTest } from './ignore/glob.ts'
import type { SearchTarget } from './search-target.ts'

/** All that are given must hold. */
export interface FindConditions {
  readonly name?: GlobTest | undefined
  readonly kind?: Kind | undefined
  /** Only files have one: the size of a directory counts its entries. */
  readonly sizeMin?: number | undefined
  readonly sizeMax?: number | undefined
  readonly newerNs?: bigint | undefined
  readonly olderNs?: bigint | undefined
  /** `NAME=VALUE`, or `NAME` with any value. */
  readonly tags: readonly string[]
  /** Whether the actor that is asked for changed the path last. */
  readonly isChanged?: ((path: string) => boolean) | undefined
}

export interface FindBudget {
  readonly timeMs: number
  readonly entries: number
}

export interface FindRequest {
  readonly conditions: FindConditions
  readonly budget: FindBudget
  /** Below the top; empty for the beginning. */
  readonly cursor: readonly Name[]
}

/** Read at one time: about 1 ms. */
const entriesAtOnce = 100

/**
 * What is below a directory and meets the conditions, as lines of JSON with a summary at the end. The tree is one that
 * does not change, as the asker sees it, so the answer is of one moment. A cursor is a place in the tree.
 */
export async function* find(
  target: SearchTarget,
  top: WalkTop,
  { conditions, budget, cursor }: FindRequest,
): AsyncGenerator<string> {
  const { pacer } = target.nodes
  const endMs = performance.now() + budget.timeMs
  let found = 0
  let truncated: 'time' | 'entries' | null = null
  let after = cursor
  for (let isOver = false; !isOver && truncated === null;) {
    if (pacer.isDue()) await pacer.rest()
    const met = await readPart(target, top, after)
    const lines: string[] = []
    for (const { below, path, ino, inode } of met) {
      if (found + lines.length === budget.entries) truncated = 'entries'
      if (truncated) break
      after = below
      if (!isMet(conditions, inode, path)) continue
      const data = entryOf(target.view, ino, inode, path)
      lines.push(`${JSON.stringify({ type: 'entry', data })}\n`)
    }
    found += lines.length
    isOver = met.length < entriesAtOnce
    if (!isOver && performance.now() > endMs) truncated ??= 'time'
    if (lines.length > 0) yield lines.join('')
  }
  const next = truncated === null ? {} : { next: writeWalkCursor(after) }
  yield `${JSON.stringify({ type: 'summary', data: { found, truncated, ...next } })}\n`
}

interface Met {
  readonly ino: Ino
  readonly below: readonly Name[]
  readonly path: readonly Name[]
  readonly inode: Inode
}

function readPart(
  { nodes, view }: SearchTarget,
  top: WalkTop,
  after: readonly Name[],
): Promise<readonly Met[]> {
  return nodes.read(() =>
    walkFrom(view, top.ino, after, entriesAtOnce).map(({ ino, path: below }) => ({
      ino,
      below,
      path: [...top.names, ...below],
      inode: view.inode(ino)!,
    })),
  )
}

function isMet(conditions: FindConditions, inode: Inode, path: readonly Name[]): boolean {
  const { name, kind, newerNs, olderNs, tags, isChanged } = conditions
  if (kind !== undefined && inode.kind !== kind) return false
  if (name && !name(path.at(-1)!)) return false
  if (!isOfSize(conditions, inode)) return false
  if (newerNs !== undefined && nanoseconds(inode.mtime) <= newerNs) return false
  if (olderNs !== undefined && nanoseconds(inode.mtime) >= olderNs) return false
  if (tags.length > 0 && !hasTags(tagsOf(inode), tags)) return false
  return isChanged?.(formatPath(path)) !== false
}

function isOfSize({ sizeMin, sizeMax }: FindConditions, { kind, size }: Inode): boolean {
  if (sizeMin === undefined && sizeMax === undefined) return true
  return kind === 'file' && size >= (sizeMin ?? 0) && size <= (sizeMax ?? Infinity)
}

function hasTags(has: Tags | undefined, wanted: readonly string[]): boolean {
  return wanted.every((each) => {
    const equals = each.indexOf('=')
    const name = equals === -1 ? each : each.slice(0, equals)
    if (has === undefined || !Object.hasOwn(has, name)) return false
    return equals === -1 || has[name] === each.slice(equals + 1)
  })
}
