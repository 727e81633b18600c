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
