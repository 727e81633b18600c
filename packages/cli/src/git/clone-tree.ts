import { rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { ByteQueue, type ByteString, tarEnd, tarHeader, tarPaddingBytes } from '@cairn/protocol'
import type { Cli } from '../cli.ts'
import { LocalSource } from '../copy/local-source.ts'
import { tarEntry } from '../copy/stream-tree.ts'
import { ProgressBar } from '../output/progress.ts'
import { fetchObjects, gitIn, type RunGit } from './objects.ts'
import { gitFailed, runGit, startGit } from './run-git.ts'
import type { GitSecret } from './secret.ts'

/** A file of the commit that is checked out. */
interface TreeFile {
  readonly mode: string
  readonly oid: string
  /** As bytes. */
  readonly path: string
}

export interface ClonedTree {
  readonly files: readonly TreeFile[]
  /** Whether git itself has checked the files out, because their bytes are not those of the blobs. */
  readonly isCheckedOut: boolean
  readonly submodules: readonly string[]
  readonly lfsFiles: readonly string[]
}

const attributes = ['filter', 'ident', 'working-tree-encoding', 'eol'] as const

interface TreeWishes {
  readonly isSparse: boolean
  readonly isBlobless: boolean
  readonly secret?: GitSecret | undefined
}

/** Writes the index of a repository that was cloned without a checkout, and decides where the bytes come from. */
export async function prepareTree(
  cli: Cli,
  repository: string,
  { isSparse, isBlobless, secret }: TreeWishes,
): Promise<ClonedTree> {
  // Git may fetch at each step, where it decides about a file that it lacks.
  const git = gitIn(cli, { cwd: repository, secret })
  if (!(await hasCommit(git)))
    return { files: [], isCheckedOut: false, submodules: [], lfsFiles: [] }
  const files = readTree(await git(['ls-tree', '-r', '-z', 'HEAD']))
  const blobs = files.filter(({ mode }) => mode !== '160000')
  if (isBlobless && !isSparse)
    await fetchObjects(git, 'origin', [...new Set(blobs.map(({ oid }) => oid))])
  await git(['-c', 'index.version=2', 'read-tree', 'HEAD'])
  const changed = isSparse ? undefined : await findConverted(git, blobs)
  const isCheckedOut = changed === undefined || changed.converted.length > 0
  if (isCheckedOut) {
    // Into an empty index, or git believes that the files are there.
    await rm(await findIndex(cli, repository))
    await git(['-c', 'index.version=2', 'read-tree', '-m', '-u', 'HEAD'])
  }
  const submodules = files.filter(({ mode }) => mode === '160000').map(({ path }) => path)
  return { files, isCheckedOut, submodules, lfsFiles: changed?.lfs ?? [] }
}

/** Where the index of a working tree is. */
export async function findIndex(cli: Cli, repository: string): Promise<string> {
  const output = await runGit(cli, ['rev-parse', '--git-path', 'index'], { cwd: repository })
  return resolve(repository, output.toString().replace(/\n$/, ''))
}

async function hasCommit(git: RunGit): Promise<boolean> {
  return git(['rev-parse', '-q', '--verify', 'HEAD^{commit}']).then(
    () => true,
    () => false,
  )
}

function readTree(output: Buffer): TreeFile[] {
  const lines = output.toString('latin1').split('\0').filter(Boolean)
  return lines.map((line) => {
    const tab = line.indexOf('\t')
    const [mode = '', , oid = ''] = line.slice(0, tab).split(' ')
    return { mode, oid, path: line.slice(tab + 1) }
  })
}

/** The files whose bytes in a checkout differ from their blobs, or may differ. */
async function findConverted(
  git: RunGit,
  files: readonly TreeFile[],
): Promise<{ readonly converted: readonly string[]; readonly lfs: readonly string[] }> {
  const config = (await git(['config', '--list', '-z'])).toString()
  const isSet = (line: RegExp): boolean => line.test(config)
  if (isSet(/(?:^|\0)core\.(?:autocrlf\n(?:true|yes|on|1)|eol\ncrlf)\0/i))
    return { converted: files.map(({ path }) => path), lfs: [] }
  // Most repositories have none of these, and asking about one file takes longer than leaving it out.
  const unspecified = attributes.map((name) => `!${name}`).join(' ')
  const input = await git(['ls-files', '-z', '--', '.', `:(exclude,attr:${unspecified})`])
  if (input.length === 0) return { converted: [], lfs: [] }
  const answer = await git(['check-attr', '--cached', '-z', '--stdin', ...attributes], input)
  const fields = answer.toString('latin1').split('\0')
  const converted = new Set<string>()
  const lfs: string[] = []
  for (let at = 0; at + 2 < fields.length; at += 3) {
    const [path = '', attribute, value] = fields.slice(at, at + 3)
    if (attribute === 'filter' && value === 'lfs') lfs.push(path)
    const isOn = value !== 'unspecified' && value !== 'unset'
    if (attribute === 'eol' ? value === 'crlf' : isOn) converted.add(path)
  }
  return { converted: [...converted], lfs }
}

interface FilesTar {
  readonly cli: Cli
  readonly repository: string
  readonly tree: ClonedTree
  readonly mtimeNs: bigint
  /** Hears of each entry, in their order. */
  readonly onEntry: (path: ByteString, size: number) => void
}

interface CloneTar extends FilesTar {
  /** Path below the clone and content of files that git does not make. */
  readonly extra: ReadonlyMap<string, string>
}

/** The clone as a tar archive: `.git`, then the files of the commit. */
export async function* tarOfClone(clone: CloneTar): AsyncGenerator<Uint8Array> {
  const { cli, repository, tree, mtimeNs, onEntry } = clone
  const bar = new ProgressBar(cli)
  const progress = { bar, found: () => {} }
  for (const [path, content] of clone.extra) {
    onEntry(path, content.length)
    yield* tarFile({ path, mode: 0o644, mtimeNs }, Buffer.from(content))
  }
  const root = tree.isCheckedOut ? repository : join(repository, '.git')
  const prefix = tree.isCheckedOut ? '' : '.git/'
  const source = new LocalSource(root)
  for await (const entry of source.entries())
    if (entry.path !== '') {
      onEntry(`${prefix}${entry.path}`, entry.target?.length ?? entry.size)
      yield* tarEntry(source, entry, { progress, signal: cli.signal, prefix, mtimeNs })
    }
  if (!tree.isCheckedOut) yield* tarBlobs(clone, bar)
  await bar.clear()
  yield tarEnd
}

/** The files of the commit alone. */
export async function* tarOfFiles(clone: FilesTar): AsyncGenerator<Uint8Array> {
  const bar = new ProgressBar(clone.cli)
  yield* tarBlobs(clone, bar)
  await bar.clear()
  yield tarEnd
}

async function* tarBlobs(
  { cli, repository, tree, mtimeNs, onEntry }: FilesTar,
  bar: ProgressBar,
): AsyncGenerator<Uint8Array> {
  const git = startGit(cli, ['cat-file', '--batch', '--buffer'], repository)
  const blobs = tree.files.filter(({ mode }) => mode !== '160000')
  git.stdin.end(blobs.map(({ oid }) => `${oid}\n`).join(''))
  const output = new ByteQueue(git.stdout)
  const umask = process.umask()
  try {
    for (const path of tree.submodules) {
      onEntry(path, 0)
      yield tarHeader({ path, kind: 'directory', mode: 0o777 & ~umask, size: 0, mtimeNs })
    }
    for (const { mode, oid, path } of blobs) {
      const line = await output.takeLine()
      const size = Number(line?.split(' ')[2])
      if (line === undefined || !Number.isSafeInteger(size))
        throw gitFailed(['cat-file'], `it has no blob ${oid}`)
      const content = await output.take(size)
      await output.take(1)
      onEntry(path, size)
      if (mode === '120000') {
        const target = Buffer.from(content).toString('latin1')
        yield tarHeader({ path, kind: 'symlink', mode: 0o777, size: 0, mtimeNs, target })
      } else {
        const bits = (mode === '100755' ? 0o777 : 0o666) & ~umask
        yield* tarFile({ path, mode: bits, mtimeNs }, content)
      }
      bar.add(size)
    }
  } finally {
    git.kill()
  }
}

function* tarFile(
  entry: { readonly path: string; readonly mode: number; readonly mtimeNs: bigint },
  content: Uint8Array,
): Generator<Uint8Array> {
  yield tarHeader({ ...entry, kind: 'file', size: content.length })
  if (content.length > 0) yield content
  const padding = tarPaddingBytes(content.length)
  if (padding > 0) yield new Uint8Array(padding)
}
