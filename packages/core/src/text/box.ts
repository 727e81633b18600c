/** A part of the comparison: old lines [oldStart, oldEnd) against new lines [newStart, newEnd). */
export interface Box {
  readonly oldStart: number
  readonly oldEnd: number
  readonly newStart: number
  readonly newEnd: number
}

/** A place in both files: so many old and so many new lines lie before it. */
export interface BoxCorner {
  readonly old: number
  readonly new: number
}
