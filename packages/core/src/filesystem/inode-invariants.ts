import { isName } from '@cairn/protocol'
import {
  type BlockRef,
  blockBytes,
  blockLength,
  fileBytesMax,
  inlineBytesMax,
} from '../content/block.ts'
import type { Content } from '../content/content.ts'
import { type Inode, isDevice } from './inode.ts'

/**
 * What no inode in a tree may be, if this one is it. Asked before an inode is written and after one is read:
 * the same file has one spelling, and what could not be read again is never stored.
 */
export function findInodeProblem(inode: Inode): string | undefined {
  if (!hasNamesAsCounted(inode))
    return `${inode.nlink} names ${inode.home ? 'and' : 'without'} a home`
  if (inode.home && !isName(inode.home.name)) return 'a home without a name'
  if (!isDevice(inode.kind) && inode.rdev !== 0) return 'a device number'
  if ((inode.kind === 'symlink') !== (inode.target !== undefined))
    return 'another kind than its target'
  if ((inode.kind === 'file') !== (inode.content !== undefined))
    return 'another kind than its content'
  if (inode.xattrs?.size === 0) return 'an empty list of attributes'
  return findSizeProblem(inode)
}

function hasNamesAsCounted({ kind, nlink, home }: Inode): boolean {
  // The root has no home, and a directory counts its own `.` and its subdirectories' `..`.
  if (kind === 'directory') return home ? nlink >= 2 : nlink !== 1
  return (nlink === 1) === (home !== undefined)
}

function findSizeProblem({ kind, size, target, content }: Inode): string | undefined {
  if (content) return findContentProblem(content, size)
  if (target) return target.length === size && size > 0 ? undefined : 'another size than its target'
  return kind === 'directory' || size === 0 ? undefined : 'a size'
}

function findContentProblem(content: Content, size: number): string | undefined {
  const { first, allocated } = content
  const firstLength = blockLength(first)
  if (content.extents.length > 0 || content.foldedEnd !== size) return 'content that is not folded'
  if (size > fileBytesMax) return `a size of ${size}`
  if (allocated > size || firstLength > allocated) return `${allocated} bytes in blocks`
  if (size <= blockBytes && firstLength !== allocated) return 'blocks behind its end'
  return first && findBlockProblem(first)
}

/** A block has one spelling, too: short ones stand inline, and no zeros at the end. */
export function findBlockProblem(block: BlockRef): string | undefined {
  const length = blockLength(block)
  if (length === 0 || length > blockBytes) return `a block of ${length} bytes`
  if ((block.type === 'inline') !== length <= inlineBytesMax) return `${length} bytes ${block.type}`
  if (block.type === 'inline' && block.bytes[length - 1] === 0) return 'zeros at the end of a block'
  return undefined
}
