import { type FileLock, lockKinds } from '@cairn/core'
import { type Ino, Reader } from '@cairn/protocol'

/** A lock as the server describes it: its session is the caller's own, or hidden. */
export type LockAnswer = Omit<FileLock, 'session' | 'owner'>

export type HeldLock = LockAnswer & { readonly ino: Ino; readonly owner: string }

/** Where the log stands that the previous owner of the lock has written. */
export function decodeGrant(bytes: Uint8Array): number {
  return new Reader(bytes, 'lock answer').varint()
}

/** Undefined when no lock is in the way. */
export function decodeLockAnswer(bytes: Uint8Array): LockAnswer | undefined {
  return bytes.length === 0 ? undefined : readLock(new Reader(bytes, 'blocker answer'))
}

export function decodeHeldLocks(bytes: Uint8Array): readonly HeldLock[] {
  const reader = new Reader(bytes, 'locks answer')
  return Array.from({ length: reader.varint() }, () => {
    const ino = reader.varint() as Ino
    return { ino, owner: reader.text(), ...readLock(reader) }
  })
}

function readLock(reader: Reader): LockAnswer {
  return {
    kind: readOneOf(reader, lockKinds),
    start: reader.varint(),
    end: reader.varint(),
    mode: readOneOf(reader, ['read', 'write']),
    pid: reader.varint(),
  }
}

function readOneOf<const T extends string>(reader: Reader, all: readonly T[]): T {
  const text = reader.text()
  const found = all.find((each) => each === text)
  if (found === undefined) throw reader.malformed(`'${text}'`)
  return found
}
