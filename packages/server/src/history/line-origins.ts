import { findTextProblem, splitLines, type TextLines } from '@cairn/core'
import type { BlameOrigin } from '@cairn/protocol'
import { textWorker } from '../ports/text-worker.ts'

type Hunk = readonly [oldStart: number, oldLength: number, newStart: number, newLength: number]

/** Undefined where the log does not reach back so far. */
export type Origin = BlameOrigin | undefined

/** A file that is too large for lines is known by its hash: it may be larger than memory. */
export interface ContentLines {
  readonly size: number
  readonly hash: string
  readonly bytes: Uint8Array | undefined
}

/** A file at one moment, and who changed each line of it last. */
export interface FileVersion {
  /** Undefined when its bytes are gone from the store. */
  readonly content: ContentLines | undefined
  /** Undefined for binary files, and for what is too large: then `whole` counts. */
  readonly lines: TextLines | undefined
  readonly origins: readonly Origin[]
  /** Who changed it last. */
  readonly whole: Origin
}

/** The same origin for everything. */
export function newVersion(content: ContentLines | undefined, whole: Origin): FileVersion {
  const bytes = content?.bytes
  const isText = bytes !== undefined && findTextProblem(bytes) === undefined
  const lines = isText ? splitLines(bytes) : undefined
  return { content, lines, origins: Array<Origin>(lines?.count ?? 0).fill(whole), whole }
}

/** Lines that `before` has keep their origin from there; the others keep the one they have. */
export async function carryOrigins(
  before: FileVersion | undefined,
  after: FileVersion,
): Promise<FileVersion> {
  if (!before?.lines || !after.lines) return after
  const origins = [...after.origins]
  let [oldLine, newLine] = [0, 0]
  const keep = (count: number): void => {
    for (let at = 0; at < count; at++) origins[newLine + at] = before.origins[oldLine + at]
  }
  const job = { type: 'hunks', before: before.lines.bytes, after: after.lines.bytes } as const
  const hunks = await textWorker.run(job)
  for (let at = 0; at < hunks.length; at += 4) {
    const [oldStart, oldLength, newStart, newLength] = hunks.subarray(at, at + 4) as unknown as Hunk
    keep(newStart - newLine)
    oldLine = oldStart + oldLength
    newLine = newStart + newLength
  }
  keep(after.lines.count - newLine)
  return { ...after, origins }
}
