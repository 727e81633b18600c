import type { Ino } from '@cairn/protocol'
import type { Answer, FillListing } from '../fuse/file-system.ts'
import { whenLoaded } from './answers.ts'
import type { MountedParts } from './mounted-parts.ts'

/** Fills in the entries of a directory after a position, as many as fit. */
export function list(
  { image, loader, nodes, sharing }: MountedParts,
  directory: Ino,
  offset: number,
  fill: FillListing,
): Answer<void> {
  // Where the kernel's buffer filled up before something had to be loaded, the listing goes on from there.
  let from = offset
  return whenLoaded(loader, () => {
    sharing.requireFresh(directory)
    for (const { name, position, ino, kind } of image.directory(directory).after(from)) {
      // The attributes of a directory belong to itself, and this mount has not looked there.
      const isBare = kind === 'directory' && !sharing.isFresh(ino)
      if (!fill(name, position, isBare ? ino : nodes.peek(ino))) return
      if (!isBare) nodes.count(ino)
      from = position
    }
  })
}
