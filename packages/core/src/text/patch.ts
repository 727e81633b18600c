import { type ByteString, equalBytes, Writer } from '@cairn/protocol'
import type { Hunk } from './hunk.ts'
import { diffLines } from './line-diff.ts'
import {
  endsWithLineFeed,
  findTextProblem,
  lineBytes,
  splitLines,
  type TextLines,
} from './lines.ts'
import { quotePath } from './quote-path.ts'

/** One side of a patch. */
export interface PatchFile {
  /** From the root of the workspace, without a leading slash. */
  readonly path: ByteString
  /** Undefined when there is no such file on this side; its name in the patch is then /dev/null. */
  readonly bytes: Uint8Array | undefined
}

export interface PatchOptions {
  /**
   * Unchanged lines shown around a change; 3 when absent. With 0, `git apply` wants --unidiff-zero
   * and, as with git's own patches, may lose a newline where the last line removed has none.
   */
  readonly contextLines?: number
}

/**
 * A unified diff that `git apply` and `patch -p1` accept; empty when the contents are equal. An
 * empty file that appears or vanishes gives nothing either: the format has no words for it.
 *
 * Files that are not text, or too large for lines, give the one line `Binary files … differ`.
 */
export function formatPatch(
  before: PatchFile,
  after: PatchFile,
  options: PatchOptions = {},
): Uint8Array {
  const oldBytes = before.bytes ?? new Uint8Array()
  const newBytes = after.bytes ?? new Uint8Array()
  const writer = new Writer()
  if (equalBytes(oldBytes, newBytes)) return writer.finish()
  const oldName = before.bytes === undefined ? '/dev/null' : quotePath(`a/${before.path}`)
  const newName = after.bytes === undefined ? '/dev/null' : quotePath(`b/${after.path}`)
  if (hasNoLines(oldBytes) || hasNoLines(newBytes)) {
    return writer.rawByteString(`Binary files ${oldName} and ${newName} differ\n`).finish()
  }
  writer.rawByteString(`--- ${endName(oldName)}\n+++ ${endName(newName)}\n`)
  writeHunks(writer, splitLines(oldBytes), splitLines(newBytes), options.contextLines ?? 3)
  return writer.finish()
}

/** How many lines a diff adds and removes; undefined where `formatPatch` has no lines to show. */
export function diffStat(
  before: Uint8Array,
  after: Uint8Array,
): { readonly added: number; readonly removed: number } | undefined {
  if (hasNoLines(before) || hasNoLines(after)) return undefined
  let added = 0
  let removed = 0
  for (const hunk of diffLines(splitLines(before), splitLines(after))) {
    added += hunk.newLength
    removed += hunk.oldLength
  }
  return { added, removed }
}

function hasNoLines(bytes: Uint8Array): boolean {
  return findTextProblem(bytes) !== undefined
}

/** Without a tab behind it, a reader would take what follows a space for a date. */
function endName(name: ByteString): ByteString {
  return name.includes(' ') ? `${name}\t` : name
}

function writeHunks(writer: Writer, before: TextLines, after: TextLines, context: number): void {
  for (const group of groupHunks(diffLines(before, after), context)) {
    writeGroup(writer, before, after, group, context)
  }
}

/** Hunks whose context would overlap or touch are shown as one. */
function groupHunks(hunks: readonly Hunk[], context: number): Hunk[][] {
  const groups: Hunk[][] = []
  let end = -Infinity
  for (const hunk of hunks) {
    if (hunk.oldStart - end <= 2 * context) groups.at(-1)!.push(hunk)
    else groups.push([hunk])
    end = hunk.oldStart + hunk.oldLength
  }
  return groups
}

function writeGroup(
  writer: Writer,
  before: TextLines,
  after: TextLines,
  group: readonly Hunk[],
  context: number,
): void {
  const first = group[0]!
  const last = group.at(-1)!
  const lead = Math.min(context, first.oldStart)
  const lastEnd = last.oldStart + last.oldLength
  const trail = Math.min(context, before.count - lastEnd)
  const oldRange = range(first.oldStart - lead, lastEnd + trail)
  const newRange = range(first.newStart - lead, last.newStart + last.newLength + trail)
  writer.rawByteString(`@@ -${oldRange} +${newRange} @@\n`)
  let at = first.oldStart - lead
  for (const hunk of group) {
    writeLines(writer, ' ', before, at, hunk.oldStart)
    at = hunk.oldStart + hunk.oldLength
    writeLines(writer, '-', before, hunk.oldStart, at)
    writeLines(writer, '+', after, hunk.newStart, hunk.newStart + hunk.newLength)
  }
  writeLines(writer, ' ', before, at, lastEnd + trail)
}

/** Counted from 1; an empty range names the line before it, and a length of 1 is left out. */
function range(start: number, end: number): string {
  const length = end - start
  if (length === 0) return `${start},0`
  return length === 1 ? `${start + 1}` : `${start + 1},${length}`
}

function writeLines(writer: Writer, sign: string, file: TextLines, from: number, to: number): void {
  for (let line = from; line < to; line++) {
    const bytes = lineBytes(file, line, 1)
    writer.rawByteString(sign).raw(bytes)
    if (!endsWithLineFeed(bytes)) writer.rawByteString('\n\\ No newline at end of file\n')
  }
}
