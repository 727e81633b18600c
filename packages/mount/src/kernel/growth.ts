import type { Op } from '@cairn/core'

/**
 * The byte with which a file ends that the operation made longer. Undefined where the operation does not hold it.
 *
 * A kernel that forgets a file's attributes keeps the size all the same until a program asks for it, and
 * `copy_file_range`, `sendfile` and `splice` do not ask: they would end where the file ended before. The kernel can be
 * told of a larger size, but only together with the last byte.
 */
export function lastByteOf(op: Op): number | undefined {
  if (op.type === 'setattr' || op.type === 'fallocate') return 0
  if (op.type !== 'write' && op.type !== 'append') return undefined
  return op.data.type === 'bytes' ? op.data.bytes.at(-1) : undefined
}
