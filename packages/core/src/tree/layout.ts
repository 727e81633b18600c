/** The node format of docs/internals/format.md, in numbers shared by the encoder and the reader. */

export const nodeVersion = 1
/** Version, level, entry count (u16), prefix length (u16). */
export const headerBytes = 6
/** Set in the level byte when the body needs 32-bit entry ends. */
export const wideFlag = 0x80
/** 16 levels of at least 2 children hold more entries than there are inode numbers in use. */
export const levelMax = 15
/** One entry with the largest extended attributes, and room to spare. */
export const nodeBytesMax: number = 1 << 20
export const entriesMax = 0xffff
/** Twice the longest key in use, a link's: 17 bytes and a name. */
export const keyBytesMax = 511
