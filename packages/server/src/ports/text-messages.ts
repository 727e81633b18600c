import type { formatPatch, mergeText } from '@cairn/core'

type PatchFile = Parameters<typeof formatPatch>[0]

/** Work on the lines of files. */
export type TextJob =
  | {
      readonly type: 'merge'
      readonly base: Uint8Array
      readonly ours: Uint8Array
      readonly theirs: Uint8Array
    }
  | { readonly type: 'stat'; readonly before: Uint8Array; readonly after: Uint8Array }
  | { readonly type: 'patch'; readonly before: PatchFile; readonly after: PatchFile }
  | { readonly type: 'hunks'; readonly before: Uint8Array; readonly after: Uint8Array }

export interface TextResults {
  readonly merge: ReturnType<typeof mergeText>
  readonly stat: { readonly added: number; readonly removed: number } | undefined
  readonly patch: Uint8Array
  /** Four numbers for each hunk: as objects, half a million of them would take long to hand over. */
  readonly hunks: Int32Array
}

export interface TextRequest {
  readonly id: number
  readonly job: TextJob
}

export type TextReply =
  | { readonly id: number; readonly result: TextResults[TextJob['type']] }
  | { readonly id: number; readonly error: string }
