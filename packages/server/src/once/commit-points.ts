import { type Branch, sessionIds, type Snapshot, type Stores } from '@cairn/core'
import { formatHash, type Hash, parseHash } from '@cairn/protocol'
import type { NotePlace } from './once.ts'

/** What a commit takes: the layer as it was then. */
export interface CommitPoint {
  readonly seq: number
  readonly snapshot: Snapshot
  /** The tree that the layer stood on. */
  readonly base?: Hash
}

/**
 * Recorded before a commit under a key begins: a repetition after a crash finds the point it was
 * about, and commits neither twice nor more. A commit that met a conflict has no effect; the next
 * one under the key has a point of its own.
 */
export async function noteCommit(
  { layers, info }: NotePlace,
  key: string,
  { seq, snapshot, base }: Required<CommitPoint>,
): Promise<void> {
  const [root, orphans] = [formatHash(snapshot.root), formatHash(snapshot.orphans)]
  const note = JSON.stringify({ seq, root, orphans, base: formatHash(base) })
  for (let attempt = 0; ; attempt++) {
    await layers.putAnswer(info.id, noteKey(key, attempt), note)
    // DURABLE: a repetition finds the point.
    if ((await layers.findAnswer(info.id, noteKey(key, attempt))) === note) return
  }
}

/**
 * The point of a commit that is in the target's log under this key, though its client may have got
 * no answer.
 */
export async function findCommitted(
  { layers, info, stores }: NotePlace & { readonly stores: Pick<Stores, 'log'> },
  layer: Branch,
  target: Branch,
  key: string,
): Promise<CommitPoint | undefined> {
  const session = sessionIds.layerSession('commit', layer.id)
  for (let attempt = 0; ; attempt++) {
    const text = await layers.findAnswer(info.id, noteKey(key, attempt))
    if (text === undefined) return undefined
    const note = JSON.parse(text) as { seq: number; root: string; orphans: string; base?: string }
    if (!(await stores.log.find(target.id, session, note.seq + 1))) continue
    const snapshot = { root: parseHash(note.root), orphans: parseHash(note.orphans) }
    const { seq, base } = note
    return { seq, snapshot, ...(base === undefined ? {} : { base: parseHash(base) }) }
  }
}

function noteKey(key: string, attempt: number): string {
  return `point:${key}:${attempt}`
}
