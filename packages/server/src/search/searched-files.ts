import { diffPaths, joinNames } from '@cairn/core'
import { type ByteString, CairnError, FsError, type Name } from '@cairn/protocol'
import { seeChange } from '../access/visible-diff.ts'
import { findEnds } from '../points/diff.ts'
import type { PlacedFile } from './batches.ts'
import type { AskedGrep } from './grep-query.ts'
import { type Narrowing, narrowedWalk } from './narrowed-files.ts'
import type { SearchSpec } from './scan-messages.ts'
import { textJson } from './scan/events.ts'
import { findTop, type SearchRequest, type SearchTarget, type SearchTop } from './search-target.ts'
import { type TreeFile, TreeFiles } from './tree-files.ts'

/** With -U a file is searched as a whole. Those beyond are left out. */
const multilineBytesMax = 64 << 20

/** The files that a search is about. What is wrong with the path is thrown before the first. */
export async function searchedFiles(
  target: SearchRequest,
  searched: SearchTarget,
  path: ByteString,
  asked: AskedGrep,
  narrowing: Narrowing | undefined,
): Promise<AsyncIterable<PlacedFile>> {
  const top = await findTop(searched, path)
  if (asked.onlyChanged) return placed(searched, asked, changedFiles(target, searched, top, asked))
  if (top.inode.kind === 'file') return placed(searched, asked, single(top, asked), true)
  if (top.inode.kind !== 'directory') throw new FsError('EINVAL')
  const files = new TreeFiles(searched, asked.filter)
  return placed(searched, asked, continued(searched, files, top, asked, narrowing))
}

async function* single(top: SearchTop, { after }: AskedGrep): AsyncGenerator<TreeFile> {
  if (!after || after.line !== undefined) yield top
}

/** From where the cursor is: its file again if it was in the middle of one, then what follows. */
async function* continued(
  searched: SearchTarget,
  files: TreeFiles,
  top: SearchTop,
  { after }: AskedGrep,
  narrowing: Narrowing | undefined,
): AsyncGenerator<TreeFile> {
  const again = after?.line === undefined ? undefined : await files.find(top, after.path)
  if (again) yield again
  yield* narrowedWalk(files, searched, top, narrowing, after?.path)
}

/** What a layer changed and is still there. */
export async function* changedFiles(
  { workspace, branch }: SearchRequest,
  searched: SearchTarget,
  top: SearchTop,
  { filter, after }: AskedGrep,
): AsyncGenerator<TreeFile> {
  const { nodes, snapshot, grant } = searched
  const { before } = await baseOf(workspace, branch.id)
  const files = new TreeFiles(searched, filter)
  const see = grant && seeChange(grant, 'search')
  const from = after?.path.join('/')
  for (const change of await diffPaths(nodes, before, snapshot)) {
    const seen = see ? see(change) : change
    if (!seen || seen.kind === 'deleted' || seen.kind === 'mode') continue
    const path = seen.path.join('/')
    if (from !== undefined && (path < from || (path === from && after?.line === undefined)))
      continue
    const file = await files.find(top, seen.path)
    if (file) yield file
  }
}

export async function baseOf(
  workspace: SearchRequest['workspace'],
  branch: string,
): Promise<Awaited<ReturnType<typeof findEnds>>> {
  if ((await workspace.branch('main')).id !== branch)
    return findEnds(workspace, branch, 'base', 'head')
  throw new CairnError('invalid_argument', {
    what: 'search only what changed',
    reason: 'main has no base',
    hint: 'Name a layer: --layer NAME.',
    subject: 'changed',
  })
}

export async function* placed(
  { view }: SearchTarget,
  { spec, after }: Pick<AskedGrep, 'spec' | 'after'>,
  files: AsyncIterable<TreeFile>,
  isNamed = false,
): AsyncGenerator<PlacedFile> {
  for await (const file of files) {
    if (!isSearchable(spec, file)) continue
    const path = joinNames(file.names)
    const isCut = after?.line !== undefined && joinNames(after.path) === path
    yield {
      ...file,
      view,
      isNamed,
      places: [{ path: pathJson(file.names) }],
      afterLine: isCut ? after.line! : 0,
    }
  }
}

export function isSearchable({ options }: SearchSpec, { inode }: TreeFile): boolean {
  return !options.isMultiline || inode.size <= multilineBytesMax
}

/** A path as events have it. */
export function pathJson(names: readonly Name[]): string {
  return textJson(Buffer.from(joinNames(names), 'latin1'))
}
