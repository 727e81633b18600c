import { diffPaths } from '@cairn/core'
import { type ByteString, FsError, isFsError, type Name } from '@cairn/protocol'
import { isShown } from '../layers/layer-names.ts'
import { listAll, shownName } from '../ports/layer-store.ts'
import { type PlacedFile, planFile } from './batches.ts'
import type { AskedGrep } from './grep-query.ts'
import { baseOf, changedFiles, isSearchable, pathJson } from './searched-files.ts'
import {
  findTop,
  openSearchTarget,
  searchTargetAt,
  type SearchRequest,
  type SearchTarget,
  type SearchTop,
} from './search-target.ts'
import { type Narrowing, narrowedWalk, sifted } from './narrowed-files.ts'
import { type TreeFile, TreeFiles } from './tree-files.ts'

/** A layer that is searched together with others. */
interface Attempt {
  readonly name: string
  readonly request: SearchRequest
  readonly searched: SearchTarget
  readonly top: SearchTop
}

/** Names whose change may change which other files are searched. */
const ruling: ReadonlySet<string> = new Set([
  '.git',
  '.gitignore',
  '.ignore',
  '.rgignore',
  'exclude',
])

/** The files of all open layers with a tag, as far as the caller sees these layers. Equal contents are given once. */
export async function attemptFiles(
  request: SearchRequest,
  tag: string,
  path: ByteString,
  asked: AskedGrep,
  narrowing: Narrowing | undefined,
): Promise<AsyncIterable<PlacedFile>> {
  const attempts = await findAttempts(request, tag, path)
  const [first, ...others] = attempts
  if (!first) return nothing()
  const isWalk = !asked.onlyChanged && first.top.inode.kind === 'directory'
  if (!isWalk) return grouped(attempts, asked)
  const reference = others.length > 0 ? await baseAttempt(first, path) : undefined
  return reference
    ? walkTogether(reference, attempts, asked, narrowing)
    : walkTogether(first, others, asked, narrowing)
}

async function* nothing(): AsyncGenerator<PlacedFile> {}

async function findAttempts(
  { workspace, asker }: SearchRequest,
  tag: string,
  path: ByteString,
): Promise<readonly Attempt[]> {
  const grant = asker.scope?.grant
  const attempts: Attempt[] = []
  let isThere = true
  for (const record of await listAll(workspace.layers, workspace.info.id, { tag })) {
    if (record.state !== 'open' && record.state !== 'conflicted') continue
    if (grant && !isShown(grant, record.id, record.path)) continue
    const branch = await workspace.openBranch(record.branch)
    if (workspace.isShared) await branch.refresh()
    const request = { workspace, asker, branch }
    const searched = await openSearchTarget(request)
    const name = record.name === undefined ? record.id : shownName(record.name)
    try {
      attempts.push({ name, request, searched, top: await findTop(searched, path) })
    } catch (error) {
      // One attempt may have removed what the others still have.
      if (!isFsError(error) || error.code !== 'ENOENT') throw error
      isThere = false
    }
  }
  if (attempts.length === 0 && !isThere) throw new FsError('ENOENT')
  return attempts
}

/**
 * The tree that an attempt began with, under no name. Attempts differ from it in what they changed, and from each other in
 * twice as much. Undefined where it has no such directory.
 */
async function baseAttempt({ request }: Attempt, path: ByteString): Promise<Reference | undefined> {
  const { before } = await baseOf(request.workspace, request.branch.id)
  const base = searchTargetAt(request, before)
  try {
    const top = await findTop(base, path)
    return top.inode.kind === 'directory' ? { request, searched: base, top } : undefined
  } catch (error) {
    if (isFsError(error)) return undefined
    throw error
  }
}

/** What is walked for all attempts: one of them, or a tree that none of them is. */
type Reference = Omit<Attempt, 'name'> & Partial<Pick<Attempt, 'name'>>

/**
 * Walks the tree of the reference. The others differ from it in few files: what they have in common is given with all of
 * their names, and what differs afterwards.
 */
async function* walkTogether(
  first: Reference,
  others: readonly Attempt[],
  asked: AskedGrep,
  narrowing: Narrowing | undefined,
): AsyncGenerator<PlacedFile> {
  const compared = await Promise.all(
    others.map(async (attempt) => ({ attempt, changed: await pathsBetween(first, attempt) })),
  )
  for await (const file of filesOf(first, asked, narrowing)) {
    const path = file.names.join('/')
    const same = compared.filter(({ changed }) => changed !== undefined && !changed.has(path))
    const layers = same.map(({ attempt }) => attempt.name)
    if (first.name !== undefined) layers.unshift(first.name)
    // All attempts changed it.
    if (layers.length === 0) continue
    yield placedIn(first, file, [{ path: pathJson(file.names), layers: layers.join('\n') }])
  }
  const groups = new Groups()
  for (const { attempt, changed } of compared)
    for await (const file of changed
      ? sifted(attempt.searched, found(attempt, changed, asked), narrowing)
      : filesOf(attempt, asked, narrowing))
      await groups.add(attempt, file)
  yield* groups.files()
}

/** Undefined where the difference is more than single files: a directory moved, or an ignore file changed. */
async function pathsBetween(
  { searched }: Reference,
  other: Attempt,
): Promise<ReadonlyMap<string, readonly Name[]> | undefined> {
  const paths = new Map<string, readonly Name[]>()
  const { nodes, snapshot } = searched
  for (const { kind, path, from, fileKind } of await diffPaths(
    nodes,
    snapshot,
    other.searched.snapshot,
  )) {
    const isMoved = fileKind === 'directory' && kind === 'renamed'
    if (isMoved || ruling.has(path.at(-1) ?? '')) return undefined
    for (const each of from ? [path, from] : [path]) paths.set(each.join('/'), each)
  }
  return paths
}

async function* found(
  { searched, top }: Attempt,
  paths: ReadonlyMap<string, readonly Name[]>,
  { filter, spec }: AskedGrep,
): AsyncGenerator<TreeFile> {
  const files = new TreeFiles(searched, filter)
  for (const names of paths.values()) {
    const file = await files.find(top, names)
    if (file && isSearchable(spec, file)) yield file
  }
}

async function* filesOf(
  { request, searched, top }: Reference,
  asked: AskedGrep,
  narrowing?: Narrowing,
): AsyncGenerator<TreeFile> {
  const { filter, onlyChanged, spec } = asked
  const files = onlyChanged
    ? changedFiles(request, searched, top, asked)
    : top.inode.kind === 'file'
      ? [top]
      : narrowedWalk(new TreeFiles(searched, filter), searched, top, narrowing)
  for await (const file of files) if (isSearchable(spec, file)) yield file
}

async function* grouped(
  attempts: readonly Attempt[],
  asked: AskedGrep,
): AsyncGenerator<PlacedFile> {
  const groups = new Groups()
  for (const attempt of attempts)
    for await (const file of filesOf(attempt, asked)) await groups.add(attempt, file)
  yield* groups.files()
}

interface Group {
  readonly attempt: Attempt
  readonly file: TreeFile
  /** By path, the names of the attempts that have the content there. */
  readonly places: Map<string, string[]>
}

/** Files of several attempts, by content. */
class Groups {
  readonly #groups = new Map<string, Group>()

  async add(attempt: Attempt, file: TreeFile): Promise<void> {
    const { nodes, view } = attempt.searched
    const extents = await planFile(nodes, { ...file, view })
    const key = extents.map(({ length, source }) => `${length}:${sourceKey(source)}`).join()
    const group = this.#groups.get(key) ?? { attempt, file, places: new Map<string, string[]>() }
    this.#groups.set(key, group)
    const path = pathJson(file.names)
    group.places.set(path, [...(group.places.get(path) ?? []), attempt.name])
  }

  *files(): Generator<PlacedFile> {
    for (const { attempt, file, places } of this.#groups.values())
      yield placedIn(
        attempt,
        file,
        [...places].map(([path, layers]) => ({ path, layers: layers.join('\n') })),
      )
  }
}

type Source = Awaited<ReturnType<typeof planFile>>[number]['source']

function sourceKey(source: Source): string {
  if (!source) return 'hole'
  if (source.type === 'blob') return `blob ${source.id} ${source.start}`
  return `bytes ${Buffer.from(source.bytes).toString('latin1')}`
}

function placedIn(
  { searched, top }: Reference,
  file: TreeFile,
  places: PlacedFile['places'],
): PlacedFile {
  const isNamed = top.inode.kind === 'file'
  return { ...file, view: searched.view, places, isNamed, afterLine: 0 }
}
