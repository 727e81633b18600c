import {
  type Branch,
  type FileLock,
  type LockChange,
  type LockKind,
  lockKinds,
  type LockMode,
  lockModes,
} from '@cairn/core'
import { CairnError, type Ino, type SessionId, type SessionRequest, Writer } from '@cairn/protocol'
import type { OpenWorkspace } from '../workspaces/open-workspace.ts'
import type { Waits } from '../leases/waits.ts'

export type LockQuestion = Extract<SessionRequest, { type: 'lock' | 'blocker' | 'locks' }>

export interface LockPlace {
  readonly workspace: OpenWorkspace
  readonly branch: Branch
  readonly session: SessionId
  readonly waits: Waits
  /** A lock counts while its session is known to be alive. */
  readonly stayAlive: () => Promise<void>
  /** Resolves when the server has all that was acknowledged about the file: the lock orders the bytes, too. */
  readonly whenGiven: (ino: Ino) => Promise<void>
}

const nothing = new Uint8Array()
/** Mounts say 16 hexadecimal digits. It is stored with each lock, and a file's locks are read and written as a whole. */
const ownerCharactersMax = 64

/** Answers what a session asks about locks, as bytes of docs/internals/protocol.md. */
export function answerLock(place: LockPlace, question: LockQuestion): Promise<Uint8Array> {
  switch (question.type) {
    case 'lock':
      return setLock(place, question)
    case 'blocker':
      return findBlocker(place, question)
    case 'locks':
      return listLocks(place)
  }
}

async function setLock(
  { workspace, branch, session, waits, stayAlive, whenGiven }: LockPlace,
  question: Extract<LockQuestion, { type: 'lock' }>,
): Promise<Uint8Array> {
  const change = lockChange(session, question, question.pid)
  const signal = question.wait === 1 ? waits.begin(question.id) : undefined
  try {
    await stayAlive()
    await workspace.locks(branch).set(question.ino, change, signal)
  } finally {
    waits.end(question.id)
  }
  if (change.mode === 'none') return nothing
  await whenGiven(question.ino)
  // The previous owner may have written through another server.
  if (workspace.isShared) await branch.refresh()
  return new Writer(8).varint(branch.head.position.seq).finish()
}

async function findBlocker(
  { workspace, branch, session }: LockPlace,
  question: Extract<LockQuestion, { type: 'blocker' }>,
): Promise<Uint8Array> {
  const change = lockChange(session, question, 0)
  const blocker = await workspace.locks(branch).findBlocker(question.ino, change)
  if (!blocker) return nothing
  // A process of another sandbox has a number there that means another one here.
  const pid = blocker.session === session ? blocker.pid : 0
  return writeLock(new Writer(32), { ...blocker, pid }).finish()
}

async function listLocks({ workspace, branch, session }: LockPlace): Promise<Uint8Array> {
  const records = await workspace.locks(branch).heldBy(session)
  const held = records.flatMap(({ ino, locks }) => locks.map((lock) => ({ ino, lock })))
  const writer = new Writer(256).varint(held.length)
  for (const { ino, lock } of held) writeLock(writer.varint(ino).text(lock.owner), lock)
  return writer.finish()
}

function writeLock(writer: Writer, { kind, start, end, mode, pid }: FileLock): Writer {
  return writer.text(kind).varint(start).varint(end).text(mode).varint(pid)
}

function lockChange(
  session: SessionId,
  { kind, owner, start, end, mode }: Extract<LockQuestion, { type: 'lock' | 'blocker' }>,
  pid: number,
): LockChange {
  if (!isOneOf<LockKind>(lockKinds, kind) || !isOneOf<LockMode>(lockModes, mode) || end < start)
    throw new CairnError('malformed', {
      what: 'lock',
      reason: `'${kind}' from ${start} to ${end} as '${mode}' is no lock`,
    })
  if (owner.length > ownerCharactersMax)
    throw new CairnError('malformed', {
      what: 'lock',
      reason: `its owner has ${owner.length} characters, ${ownerCharactersMax} are allowed`,
    })
  return { session, owner, kind, start, end, mode, pid }
}

function isOneOf<T extends string>(all: readonly T[], text: string): text is T {
  return (all as readonly string[]).includes(text)
}
