/** In this order: the index of a kind stands in the tree and in the log. */
export const fileKinds = [
  'file',
  'directory',
  'symlink',
  'fifo',
  'socket',
  'character',
  'block',
] as const
export type FileKind = (typeof fileKinds)[number]
