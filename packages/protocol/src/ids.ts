import { type ByteString, fromHex, toHex } from './bytes.ts'
import { CairnError } from './errors.ts'

declare const brand: unique symbol
type Branded<Base, Name extends string> = Base & { readonly [brand]: Name }

/** SHA-256 of some bytes, as a byte string of 32 characters. Shown to people as hexadecimal. */
export type Hash = Branded<ByteString, 'Hash'>
export const hashBytes = 32

/** Names a file for life. A plain number: 2^53 of them outlast any workspace. */
export type Ino = Branded<number, 'Ino'>
export const rootIno: Ino = 1 as Ino

/** A directory entry's name: 1–255 bytes, no `/`, no NUL, neither `.` nor `..`. */
export type Name = Branded<ByteString, 'Name'>

export type BranchId = Branded<string, 'BranchId'>
export type SessionId = Branded<string, 'SessionId'>
export type CheckpointId = Branded<string, 'CheckpointId'>
/** Who did it: the id of the token or key that was used. */
export type ActorId = Branded<string, 'ActorId'>

export function formatHash(hash: Hash): string {
  return toHex(hash)
}

export function parseHash(hex: string): Hash {
  const hash = fromHex(hex)
  if (hash?.length !== hashBytes)
    throw new CairnError('malformed', {
      what: `read '${hex}' as a hash`,
      reason: 'want 64 hex digits',
    })
  return hash as Hash
}
