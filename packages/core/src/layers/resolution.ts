/**
 * Keep what the layer has, keep what the target has, or give the file these bytes. Bytes decide about content, and
 * about whether a file stays: not about modes, names or cycles. What an answer does not decide stays a conflict.
 */
export type Choice =
  | { readonly type: 'layer' }
  | { readonly type: 'target' }
  | { readonly type: 'bytes'; readonly bytes: Uint8Array }

/** How one conflict was decided. */
export interface Resolution {
  /** The conflict's `id`. */
  readonly conflict: string
  readonly choice: Choice
}

/**
 * What a conflict is about, as the target has it. The rest of the id is about the layer's side: whoever decides for
 * the layer means whatever it makes of the thing, anybody else what they saw of both.
 */
export function subjectOf(conflict: string): string {
  return conflict.slice(0, conflict.lastIndexOf(':'))
}
