import { compareBytes, equalBytes, type Hash } from '@cairn/protocol'
import { TreeCursor } from './cursor.ts'
import type { Nodes } from './nodes.ts'

/** A key whose value differs between two roots. An absent value means an absent key. */
export interface TreeChange {
  readonly key: Uint8Array
  readonly before: Uint8Array | undefined
  readonly after: Uint8Array | undefined
}

/** What differs between two roots, ascending by key. Subtrees with equal hashes are never entered. */
export async function* diff(nodes: Nodes, before: Hash, after: Hash): AsyncGenerator<TreeChange> {
  if (before === after) return
  const a = await TreeCursor.open(nodes, before)
  const b = await TreeCursor.open(nodes, after)
  await a.loadAhead(b)
  while (!a.done || !b.done) {
    a.skipCommon(b)
    if (a.done && b.done) return
    if (b.done) {
      if (a.level > 0) await a.enter()
      else yield takeBefore(a)
    } else if (a.done) {
      if (b.level > 0) await b.enter()
      else yield takeAfter(b)
    } else if (a.level > 0 || b.level > 0) {
      await alignOrSkip(a, b)
    } else {
      const change = compareLeaves(a, b)
      if (change) yield change
    }
  }
}

/** At least one of them stands on a subtree. */
async function alignOrSkip(a: TreeCursor, b: TreeCursor): Promise<void> {
  if (a.level === b.level && a.childHash === b.childHash) {
    a.next()
    b.next()
    return
  }
  // The higher one first: it may contain a subtree equal to the lower one.
  const enterA = a.level >= b.level
  const enterB = b.level >= a.level
  if (enterA) await a.enter()
  if (enterB) await b.enter()
  await a.loadAhead(b)
}

function compareLeaves(a: TreeCursor, b: TreeCursor): TreeChange | undefined {
  const order = compareBytes(a.key, b.key)
  if (order < 0) return takeBefore(a)
  if (order > 0) return takeAfter(b)
  const change = { key: a.key, before: a.value, after: b.value }
  a.next()
  b.next()
  return equalBytes(change.before, change.after) ? undefined : change
}

function takeBefore(a: TreeCursor): TreeChange {
  const change = { key: a.key, before: a.value, after: undefined }
  a.next()
  return change
}

function takeAfter(b: TreeCursor): TreeChange {
  const change = { key: b.key, before: undefined, after: b.value }
  b.next()
  return change
}
