/**
 * Stands in `condemned_ms` of content that a draft stored first, until others use it: about the time when it did so. It is
 * odd, and collectors condemn at even times, so that a draft never takes for its own what a collector condemned. A
 * collector deletes what a server that died has left so.
 */
export type DraftMark = number & { readonly __brand: 'DraftMark' }

/** A long draft has few different marks. */
const stepMs = 10 * 60 * 1000

export function draftMark(nowMs: number): DraftMark {
  return (nowMs - (nowMs % stepMs) + 1) as DraftMark
}

export function evenTime(nowMs: number): number {
  return nowMs - (nowMs % 2)
}
