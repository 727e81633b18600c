export { BareMount, type BareMountParts } from './bare-mount.ts'
export { wholeTree } from './whole-tree.ts'
