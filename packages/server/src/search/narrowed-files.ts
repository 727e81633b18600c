import { namesOf, pathsOf } from '@cairn/core'
import type { Ino, Name } from '@cairn/protocol'
import { type Lookup, lookupOf } from './index/lookup.ts'
import type { WorkspaceIndex } from './index/workspace-index.ts'
import type { Needs } from './pattern/needs.ts'
import type { SearchSpec } from './scan-messages.ts'
import type { SearchTarget } from './search-target.ts'
import type { SearchPlace, TreeFile, TreeFiles } from './tree-files.ts'

/** How a search leaves out files that cannot have a match. */
export interface Narrowing {
  readonly index: WorkspaceIndex
  readonly lookup: Lookup
  /** Files that a token sees and that were left out. They count as searched, so that counts do not tell what is indexed. */
  readonly skipped: { files: number; bytes: number }
}

/** Undefined where every file has to be looked at. */
export function narrowingOf(
  index: WorkspaceIndex,
  needs: Needs,
  spec: SearchSpec,
): Narrowing | undefined {
  index.follow()
  const lookup = lookupOf(needs, spec)
  return lookup && { index, lookup, skipped: { files: 0, bytes: 0 } }
}

/** With more candidates, a walk that passes the others by is quicker than looking up the path of each. */
const candidatesMax = 5000
const siftedAtOnce = 500

/** The files of a walk that may have a match, in the same order. */
export async function* narrowedWalk(
  files: TreeFiles,
  searched: SearchTarget,
  top: SearchPlace,
  narrowing: Narrowing | undefined,
  after?: readonly Name[],
): AsyncGenerator<TreeFile> {
  if (!narrowing) return yield* files.walk(top, after)
  const found = searched.grant
    ? undefined
    : await narrowing.index.candidates(searched, narrowing.lookup)
  if (!found) return yield* sifted(searched, files.walk(top, after), narrowing)
  if (found.size <= candidatesMax) return yield* byPath(files, searched, top, found, after)
  for await (const file of files.walk(top, after)) if (found.has(file.ino)) yield file
}

async function* byPath(
  files: TreeFiles,
  { nodes, view }: SearchTarget,
  top: SearchPlace,
  inos: ReadonlySet<Ino>,
  after: readonly Name[] | undefined,
): AsyncGenerator<TreeFile> {
  const paths: (readonly Name[])[] = []
  await nodes.readEach(inos, (ino) => {
    const found = pathsOf(view, ino).map(namesOf)
    paths.push(...found)
  })
  for (const names of paths.toSorted(compareNames)) {
    if (after && compareNames(names, after) <= 0) continue
    const file = await files.find(top, names)
    if (file) yield file
  }
}

/** Those of the files that may have a match. */
export async function* sifted(
  searched: SearchTarget,
  files: AsyncIterable<TreeFile>,
  narrowing: Narrowing | undefined,
): AsyncGenerator<TreeFile> {
  if (!narrowing) return yield* files
  let group: TreeFile[] = []
  for await (const file of files) {
    group.push(file)
    if (group.length < siftedAtOnce) continue
    yield* await siftGroup(searched, group, narrowing)
    group = []
  }
  yield* await siftGroup(searched, group, narrowing)
}

async function siftGroup(
  searched: SearchTarget,
  group: readonly TreeFile[],
  { index, lookup, skipped }: Narrowing,
): Promise<readonly TreeFile[]> {
  const isOut = await index.sift(searched, group, lookup)
  return group.filter(({ inode }, at) => {
    if (isOut[at] === 0) return true
    if (searched.grant) skipped.files++
    if (searched.grant) skipped.bytes += inode.size
    return false
  })
}

/** In the order of a walk: what is in a directory stands where its name does. */
function compareNames(a: readonly Name[], b: readonly Name[]): number {
  const end = Math.min(a.length, b.length)
  for (let at = 0; at < end; at++) if (a[at] !== b[at]) return a[at]! < b[at]! ? -1 : 1
  return a.length - b.length
}
