import { createHash } from 'node:crypto'

/** What git compares a file with before it believes that the file is unchanged. */
export interface IndexStat {
  readonly ino: number
  readonly size: number
  readonly mtimeNs: bigint
  readonly ctimeNs: bigint
  readonly uid: number
  readonly gid: number
}

/** Files are older than the index by more than git's grain, or git would look into all of them. */
export const olderNs = 2_000_000_000n

/** What the files of a new working tree get as the time of their last change. */
export function timeOfFiles(): bigint {
  return (BigInt(Date.now()) / 1000n) * 1_000_000_000n - 2n * olderNs
}

const headBytes = 12
const statBytes = 40
const gitlinkMode = 0o160000
const extendedFlag = 0x4000
const skipWorktreeFlag = 0x4000
const nsPerSecond = 1_000_000_000n

/**
 * Writes stat data into a git index of version 2 or 3, for every entry that `find` knows. Others are left, and git looks
 * into their files. Undefined for an index of another kind.
 */
export function withStats(
  index: Uint8Array,
  find: (path: string) => IndexStat | undefined,
): Buffer | undefined {
  const bytes = Buffer.from(index)
  if (bytes.toString('latin1', 0, 4) !== 'DIRC') return undefined
  const [version, count] = [bytes.readUInt32BE(4), bytes.readUInt32BE(8)]
  if (version !== 2 && version !== 3) return undefined
  const hashBytes = hashBytesOf(bytes)
  if (hashBytes === undefined) return undefined
  let at = headBytes
  for (let entry = 0; entry < count; entry++) {
    const flagsAt = at + statBytes + hashBytes
    const isExtended = (bytes.readUInt16BE(flagsAt) & extendedFlag) !== 0
    const more = isExtended ? bytes.readUInt16BE(flagsAt + 2) : 0
    const nameAt = flagsAt + (isExtended ? 4 : 2)
    const end = bytes.indexOf(0, nameAt)
    const isFile = bytes.readUInt32BE(at + 24) !== gitlinkMode && (more & skipWorktreeFlag) === 0
    const stat = isFile ? find(bytes.toString('latin1', nameAt, end)) : undefined
    if (stat) writeStat(bytes, at, stat)
    // One to eight zeros, so that entries begin at multiples of eight.
    at += Math.floor((end - at + 8) / 8) * 8
  }
  const body = bytes.subarray(0, bytes.length - hashBytes)
  createHash(algorithmOf(hashBytes)).update(body).digest().copy(bytes, body.length)
  return bytes
}

/** The index does not name its hash function, but it ends with a hash of itself. */
function hashBytesOf(bytes: Buffer): number | undefined {
  return [20, 32].find((length) => {
    const body = bytes.subarray(0, bytes.length - length)
    const hash = createHash(algorithmOf(length)).update(body).digest()
    return bytes.subarray(bytes.length - length).equals(hash)
  })
}

function algorithmOf(hashBytes: number): string {
  return hashBytes === 20 ? 'sha1' : 'sha256'
}

/** Each field keeps 32 bits, as git does. */
function writeStat(bytes: Buffer, at: number, stat: IndexStat): void {
  const { ctimeNs, mtimeNs, ino, uid, gid, size } = stat
  const fields: readonly [number, bigint][] = [
    [0, ctimeNs / nsPerSecond],
    [4, ctimeNs % nsPerSecond],
    [8, mtimeNs / nsPerSecond],
    [12, mtimeNs % nsPerSecond],
    [20, BigInt(ino)],
    [28, BigInt(uid)],
    [32, BigInt(gid)],
    [36, BigInt(size)],
  ]
  for (const [offset, value] of fields)
    bytes.writeUInt32BE(Number(value & 0xffff_ffffn), at + offset)
}
