import { posix } from 'node:path'
import { compileGlob } from '@cairn/sdk'
import type { SandboxGlobOptions } from './sandbox.ts'

/** What was listed by `find . -print0`. */
export function parseListing(listing: string): string[] {
  return listing
    .split('\0')
    .filter((name) => name !== '')
    .map((name) => name.slice('./'.length))
}

/** The files below `base` that a pattern matches: the same on every provider. */
export function pickMatches(
  names: readonly string[],
  pattern: string,
  { ignore = [], dot = false, absolute = false }: SandboxGlobOptions,
  { base, workDir }: { readonly base: string; readonly workDir: string },
): string[] {
  const matches = compileGlob(pattern, { dot })
  const ignored = ignore.map((each) => compileGlob(each, { dot: true }))
  return names
    .filter((name) => matches(name) && !ignored.some((ignores) => ignores(name)))
    .map((name) => posix.join(base, name))
    .map((whole) => (absolute ? whole : posix.relative(workDir, whole)))
    .toSorted()
}
