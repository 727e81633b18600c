import type { FileEntry, FileStat } from '@cairn/protocol'
import type { RequestOptions } from '../client/deadline.ts'
import { isCairnError } from '../client/error.ts'
import type { FilePath } from '../client/path.ts'
import { matchNames, parseGlob, type PathPattern } from './compile-glob.ts'

/** What finding needs of the files. */
export interface Listing {
  stat(path: FilePath, options: RequestOptions & { readonly follow?: boolean }): Promise<FileStat>
  list(path: FilePath, options: RequestOptions): AsyncIterable<FileEntry>
  walk(path: FilePath, options: RequestOptions): AsyncIterable<FileEntry>
}

/** Finds what matches by reading only the directories that can hold a match. */
export async function* findMatches(
  files: Listing,
  pattern: string,
  options: RequestOptions,
): AsyncGenerator<FileEntry> {
  const seen = new Set<string>()
  for (const parts of parseGlob(pattern)) {
    for await (const entry of expand(files, '', parts, options)) {
      if (seen.has(entry.path)) continue
      seen.add(entry.path)
      yield entry
    }
  }
}

async function* expand(
  files: Listing,
  directory: string,
  parts: PathPattern,
  options: RequestOptions,
): AsyncGenerator<FileEntry> {
  const wild = parts.findIndex((part) => part === '**' || part.literal === undefined)
  const fixed = wild < 0 ? parts : parts.slice(0, wild)
  const names = fixed.map((part) => (part === '**' ? '' : `/${part.literal}`))
  const base = directory + names.join('')
  try {
    if (wild < 0) yield await lookUp(files, base, options)
    else if (parts[wild] === '**') yield* below(files, base, parts.slice(wild), options)
    else yield* inside(files, base, parts.slice(wild), options)
  } catch (error) {
    // A pattern is a question: what is not there does not match.
    if (isCairnError(error) && (error.errno === 'ENOENT' || error.errno === 'ENOTDIR')) return
    throw error
  }
}

async function lookUp(files: Listing, path: string, options: RequestOptions): Promise<FileEntry> {
  const { pathBytes: _, ...stat } = await files.stat(path || '/', { ...options, follow: false })
  return { ...stat, path: path || '/', name: path.slice(path.lastIndexOf('/') + 1) }
}

/** The first part is a name with wildcards. */
async function* inside(
  files: Listing,
  base: string,
  [part, ...rest]: PathPattern,
  options: RequestOptions,
): AsyncGenerator<FileEntry> {
  if (part === undefined || part === '**') return
  for await (const entry of files.list(base || '/', options)) {
    if (!part.matches(entry.name)) continue
    if (rest.length === 0) yield { ...entry, path: `${base}/${entry.name}` }
    else if (entry.kind === 'directory')
      yield* expand(files, `${base}/${entry.name}`, rest, options)
  }
}

/** The first part is `**`. */
async function* below(
  files: Listing,
  base: string,
  parts: PathPattern,
  options: RequestOptions,
): AsyncGenerator<FileEntry> {
  if (matchNames(parts, [])) yield await lookUp(files, base, options)
  let root: string | undefined
  for await (const entry of files.walk(base || '/', options)) {
    // Paths that come back are real ones; those of the pattern may lead through a symlink.
    root ??= entry.path.slice(0, -entry.name.length - 1)
    const relative = entry.path.slice(root.length)
    if (matchNames(parts, relative.slice(1).split('/'))) yield { ...entry, path: base + relative }
  }
}
