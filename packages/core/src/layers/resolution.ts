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
