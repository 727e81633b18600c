import { errno, RawErrno } from './errno.ts'
import type { Reply } from './reply.ts'
import type { Request } from './request.ts'

/** The versions of the protocol that we speak. The kernel uses no feature that we do not ask for. */
const major = 7
/** The variable lets tests run with the features of an older kernel: 37 is Linux 6.1. */
const minor = Number(process.env['CAIRN_FUSE_MINOR'] ?? 45)
const oldestMinor = 31

export const maxWriteBytes: number = 1 << 20
const maxPages = 256

/** Bits 0 to 31. */
const flag = {
  asyncRead: 1 << 0,
  posixLocks: 1 << 1,
  bigWrites: 1 << 5,
  flockLocks: 1 << 10,
  doReaddirplus: 1 << 13,
  noOpenSupport: 1 << 17,
  parallelDirops: 1 << 18,
  maxPages: 1 << 22,
  cacheSymlinks: 1 << 23,
  noOpendirSupport: 1 << 24,
  handleKillprivV2: 1 << 28,
  initExt: 1 << 30,
} as const

/** Bits 32 to 63, shifted down. */
const flag2 = { hasExpireOnly: 1 << 3, directIoAllowMmap: 1 << 4, hasResend: 1 << 7 } as const

/** The minor version that brought each of these. Linux 6.2 has 38, 6.6 has 39, 6.9 has 40. */
const flags2Since = [
  [38, flag2.hasExpireOnly],
  [39, flag2.directIoAllowMmap],
  [40, flag2.hasResend],
] as const

/**
 * Left out on purpose. ATOMIC_O_TRUNC: without OPEN requests truncation would be lost. WRITEBACK_CACHE: the
 * kernel would own the size, also after a change made elsewhere. DONT_MASK: so the kernel applies the umask.
 * ASYNC_DIO: the kernel drops cached pages before an asynchronous O_DIRECT write, and not after it, so a page that is
 * read meanwhile stays old. POSIX_ACL: not kept. EXPLICIT_INVAL_DATA: the
 * kernel would keep old pages when it hears of another size. READDIRPLUS_AUTO: a listing shall fill attributes every time.
 */
const wanted =
  flag.asyncRead |
  flag.bigWrites |
  flag.doReaddirplus |
  flag.noOpenSupport |
  flag.parallelDirops |
  flag.maxPages |
  flag.cacheSymlinks |
  flag.noOpendirSupport |
  flag.handleKillprivV2 |
  flag.initExt
const wanted2 = flags2Since
  .filter(([since]) => since <= minor)
  .reduce((flags, [, flag]) => flags | flag, 0)

/** What kernel and daemon agreed on, for the life of the mount. Plain JSON: a later daemon goes on with it. */
export interface InitInfo {
  readonly major: number
  readonly minor: number
  readonly flags: number
  readonly flags2: number
  readonly maxReadaheadBytes: number
  readonly maxWriteBytes: number
}

export function keepsLocks(info: InitInfo): boolean {
  return (info.flags & flag.posixLocks) !== 0
}

/** Whether a file that is written past the kernel's pages can be mapped all the same. */
export function mapsDirectFiles(info: InitInfo): boolean {
  return (info.flags2 & flag2.directIoAllowMmap) !== 0
}

/** Whether a name can be made to be looked up anew without being dropped. */
export function canExpire(info: InitInfo): boolean {
  return (info.flags2 & flag2.hasExpireOnly) !== 0
}

export function canResend(info: InitInfo): boolean {
  return (info.flags2 & flag2.hasResend) !== 0
}

/** Gives undefined when the kernel is too old to talk to. */
export function negotiate(request: Request, locks: boolean): InitInfo | undefined {
  const kernelMinor = request.u32(44)
  if (request.u32(40) !== major || kernelMinor < oldestMinor) return undefined
  const offered = request.u32(52)
  const offered2 = (offered & flag.initExt) === 0 ? 0 : request.u32(56)
  const lockFlags = locks ? flag.posixLocks | flag.flockLocks : 0
  return {
    major,
    minor: Math.min(kernelMinor, minor),
    flags: (offered & (wanted | lockFlags)) >>> 0,
    flags2: (offered2 & wanted2) >>> 0,
    maxReadaheadBytes: request.u32(48),
    maxWriteBytes,
  }
}

export function writeInit(reply: Reply, info: InitInfo | undefined): void {
  const at = reply.grow(64)
  const { words } = reply
  words.fill(0, at, at + 16)
  if (info === undefined) throw new RawErrno(errno.EPROTO)
  words[at] = info.major
  words[at + 1] = info.minor
  words[at + 2] = info.maxReadaheadBytes
  words[at + 3] = info.flags
  // Background requests (read-ahead) that may be under way, and where the kernel begins to hold back: the
  // default of 12 would let a few parked reads stop all others.
  words[at + 4] = (192 << 16) | 256
  words[at + 5] = info.maxWriteBytes
  // Times are kept to the nanosecond.
  words[at + 6] = 1
  words[at + 7] = maxPages
  words[at + 8] = info.flags2
}
