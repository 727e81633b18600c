import type { ByteString } from '../bytes.ts'

/** `link` is another name of a file that came before it. */
export const tarKinds = ['file', 'directory', 'symlink', 'link'] as const
export type TarKind = (typeof tarKinds)[number]

/** One entry of a tar archive. Owners are left out: a workspace has none for what comes over HTTP. */
export interface TarEntry {
  readonly path: ByteString
  readonly kind: TarKind
  /** Permission bits. */
  readonly mode: number
  readonly size: number
  readonly mtimeNs: bigint
  /** What a symlink or link leads to. */
  readonly target?: ByteString
}

export const tarBlockBytes = 512

/** The sum of a header's bytes, in which the checksum itself counts as spaces. */
export function checksumOf(header: Uint8Array): number {
  let sum = 8 * 0x20
  // Loops without a callback: this is most of what reading or writing a small file's header takes.
  for (let at = 0; at < 148; at++) sum += header[at]!
  for (let at = 156; at < header.length; at++) sum += header[at]!
  return sum
}

/** Zeros that follow content of this size. */
export function tarPaddingBytes(size: number): number {
  return (tarBlockBytes - (size % tarBlockBytes)) % tarBlockBytes
}
