import { access, appendFile, mkdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Stores } from '@cairn/core'
import { type CommitPlan, ImportStream } from './fast-import.ts'
import { runGit, startGit, whenDone } from './run-git.ts'

export interface ExportedRef {
  readonly commit: string
  /** From the trailers of the message. */
  readonly root: string
  readonly seq: number
}

const settings = [
  ['uploadpack.allowFilter', 'true'],
  ['uploadpack.allowAnySHA1InWant', 'true'],
  ['gc.auto', '0'],
  ['core.logAllRefUpdates', 'false'],
] as const

/** The bare repository that a workspace is exported to. It can be deleted at any time: the next export makes it anew. */
export class ExportedRepository {
  readonly path: string
  /** By the root of a tree, what the caller that the repository is for can tell of it. */
  readonly shownRoots: Map<string, string> = new Map()
  readonly #stores: Stores
  #blobs: Map<string, string> | undefined

  constructor(path: string, stores: Stores) {
    this.path = path
    this.#stores = stores
  }

  isThere(): Promise<boolean> {
    return access(join(this.path, 'HEAD')).then(
      () => true,
      () => false,
    )
  }

  async open(): Promise<void> {
    if (await this.isThere()) return
    // Whole or not at all: a repository that is half made is never used.
    const making = `${this.path}.new`
    await rm(making, { recursive: true, force: true })
    await mkdir(making, { recursive: true, mode: 0o700 })
    await runGit(['init', '-q', '--bare', '-b', 'main', making], 'make the git repository')
    for (const [name, value] of settings)
      await runGit(['-C', making, 'config', name, value], 'make the git repository')
    await rename(making, this.path)
  }

  /** Puts a ref on a commit that was pushed, and notes which tree of the workspace it is. */
  async adopt(ref: string, { commit, root, seq }: ExportedRef): Promise<void> {
    await appendFile(join(this.path, pushedFile), `${commit} ${root} ${seq}\n`)
    await runGit(['-C', this.path, 'update-ref', ref, commit], 'put a git ref on what was pushed')
  }

  async refs(): Promise<ReadonlyMap<string, ExportedRef>> {
    const pushed = await this.#readPushed()
    const format = '--format=%(refname)%00%(objectname)%00%(contents)%00'
    const output = await this.#read(['for-each-ref', format])
    return new Map(
      inThrees(output).map(([name, commit, message]) => [
        name.trim(),
        pushed.get(commit) ?? refOf(commit, message),
      ]),
    )
  }

  /** The commits of a ref that is there, newest first, without those that were merged. */
  async history(ref: string): Promise<readonly ExportedRef[]> {
    const output = await this.#read(['log', '--first-parent', '--format=%x00%H%x00%B%x00', ref])
    return inThrees(output).map(([, ...rest]) => refOf(...rest))
  }

  #read(args: readonly string[]): Promise<string> {
    return runGit(['-C', this.path, ...args], 'read the git repository')
  }

  /** The branch that a clone checks out. */
  async checkOut(ref: string): Promise<void> {
    const head = join(this.path, 'HEAD')
    if ((await readFile(head, 'utf8')) === `ref: ${ref}\n`) return
    await runGit(['-C', this.path, 'symbolic-ref', 'HEAD', ref], 'name the first branch')
  }

  async removeRefs(names: readonly string[]): Promise<void> {
    if (names.length === 0) return
    const input = names.map((name) => `delete ${name}\n`).join('')
    await runGit(['-C', this.path, 'update-ref', '--stdin'], 'remove git refs', input)
  }

  /** Makes the commits in their order. A parent may be `@N`: the commit number N of the list. */
  async commitAll(plans: readonly CommitPlan[]): Promise<void> {
    if (plans.length === 0) return
    const known = (this.#blobs ??= await this.#readBlobs())
    const stream = new ImportStream(this.#stores, known)
    const marksFile = join(this.path, 'cairn-marks')
    const options = ['--quiet', '--force', '--done', `--export-marks=${marksFile}`]
    const git = startGit(['-C', this.path, 'fast-import', ...options])
    try {
      git.stdout.resume()
      const input = pipeline(Readable.from(importOf(stream, plans)), git.stdin)
      await Promise.all([input, whenDone(git, 'export the workspace to git')])
      await this.#noteBlobs(stream.sent, await readFile(marksFile, 'utf8'))
    } catch (error) {
      // Marks of a stream that failed name nothing.
      this.#blobs = undefined
      git.kill()
      throw error
    }
  }

  /** Commits that were pushed: their messages do not tell which tree they are. The last line of a commit is right. */
  async #readPushed(): Promise<ReadonlyMap<string, ExportedRef>> {
    const text = await readFile(join(this.path, pushedFile), 'utf8').catch(() => '')
    const lines = text.split('\n').map((line) => /^([0-9a-f]{40}) ([0-9a-f]{64}) (\d+)$/.exec(line))
    return new Map(
      lines.flatMap((line) => {
        const [, commit, root, seq] = line ?? []
        return commit === undefined || root === undefined
          ? []
          : [[commit, { commit, root, seq: Number(seq) }] as const]
      }),
    )
  }

  /** Which content is which blob. A line that was cut off is not one. */
  async #readBlobs(): Promise<Map<string, string>> {
    const text = await readFile(join(this.path, blobsFile), 'utf8').catch(() => '')
    const lines = text.split('\n').map((line) => line.split(' '))
    return new Map(
      lines.filter(([key, oid]) => key?.length === 64 && oid?.length === 40) as [string, string][],
    )
  }

  async #noteBlobs(sent: ReadonlyMap<string, string>, marks: string): Promise<void> {
    const lines: string[] = []
    for (const line of marks.split('\n')) {
      const [mark = '', oid = ''] = line.split(' ')
      const key = sent.get(mark)
      if (key === undefined) continue
      this.#blobs!.set(key, oid)
      lines.push(`${key} ${oid}\n`)
    }
    await appendFile(join(this.path, blobsFile), lines.join(''))
  }
}

function inThrees(output: string): [string, string, string][] {
  const fields = output.split('\0')
  const threes: [string, string, string][] = []
  for (let at = 0; at + 2 < fields.length; at += 3)
    threes.push([fields[at]!, fields[at + 1]!, fields[at + 2]!])
  return threes
}

/** Only the end of a message is ours. What is before it may be of a token, and say the same of another tree. */
const trailers = /Cairn-Root: ([0-9a-f]{64})\nCairn-Seq: (\d+)\nCairn-Actor: [^\n]*\s*$/

function refOf(commit: string, message: string): ExportedRef {
  const [, root = '', seq = ''] = trailers.exec(message) ?? []
  return { commit, root, seq: Number(seq) }
}

const blobsFile = 'cairn-blobs'
const pushedFile = 'cairn-pushed'

async function* importOf(
  stream: ImportStream,
  plans: readonly CommitPlan[],
): AsyncGenerator<Uint8Array> {
  const marks: string[] = []
  for (const plan of plans) {
    const parents = plan.parents.map((parent) =>
      parent.startsWith('@') ? marks[Number(parent.slice(1))]! : parent,
    )
    marks.push(yield* stream.commit({ ...plan, parents }))
  }
  yield Buffer.from('done\n')
}
