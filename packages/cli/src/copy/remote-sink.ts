import { fromByteString, FewAtOnce } from '@cairn/protocol'
import { type FilePath, isCairnError, spelled } from '@cairn/sdk'
import type { Remote } from '../remote/open.ts'
import { isEntryFailure } from './failures.ts'
import { remotePath, textOf } from './remote-path.ts'
import {
  type FailedEntry,
  type Moving,
  type Opener,
  type TreeEntry,
  type TreeSink,
  UnmadeDirectories,
} from './tree.ts'
import { type UploadPlan, uploadFile } from './upload-file.ts'

/** Files of a workspace. */
export class RemoteSink implements TreeSink {
  protected readonly remote: Remote
  protected readonly plan: UploadPlan
  /** A large file already sends several blocks at a time. */
  readonly #large = new FewAtOnce(2)

  constructor(remote: Remote, plan: UploadPlan) {
    this.remote = remote
    this.plan = plan
  }

  async makeDirectories(
    entries: readonly TreeEntry[],
    signal: AbortSignal,
  ): Promise<FailedEntry[]> {
    if (await this.#makeTogether(entries, signal)) return []
    return this.#makeOneByOne(entries, signal)
  }

  /** In one request. False when one of them refused, because that undid all of them. */
  async #makeTogether(entries: readonly TreeEntry[], signal: AbortSignal): Promise<boolean> {
    const operations = entries.map(({ path, mode }) => ({
      op: 'mkdir' as const,
      ...spelled('path', this.place(path)),
      mode: octal(mode),
      parents: true,
    }))
    try {
      await this.remote.workspace.batch(operations, { signal })
      return true
    } catch (error) {
      if (isEntryFailure(error)) return false
      throw error
    }
  }

  async #makeOneByOne(entries: readonly TreeEntry[], signal: AbortSignal): Promise<FailedEntry[]> {
    const failed: FailedEntry[] = []
    const unmade = new UnmadeDirectories()
    for (const { path, mode } of entries) {
      if (unmade.hold(path)) continue
      try {
        const options = { mode: octal(mode), parents: true, signal }
        await this.remote.files.mkdir(this.place(path), options)
      } catch (error) {
        if (!isEntryFailure(error)) throw error
        failed.push({ path, error })
        unmade.add(path)
      }
    }
    return failed
  }

  async writeFile(entry: TreeEntry, open: Opener, moving: Moving): Promise<void> {
    const path = this.place(entry.path)
    const mode = octal(entry.mode)
    const content = await open()
    // Only what can be read again from the start is worth remembering, and only by a path that fits into JSON.
    if (content instanceof Blob && typeof path === 'string') {
      const source = { blob: content, mode, identity: entry.version }
      return this.#large.pass(() => uploadFile(this.remote, path, source, this.plan, moving))
    }
    const { tags } = this.plan
    await this.remote.files.write(path, content, { mode, tags, signal: moving.signal })
    moving.onBytes(entry.size)
  }

  async makeSymlink({ path, target = '' }: TreeEntry, signal: AbortSignal): Promise<void> {
    const { files } = this.remote
    const place = this.place(path)
    const leadsTo = textOf(target) ?? fromByteString(target)
    try {
      await files.symlink(leadsTo, place, { parents: true, signal })
    } catch (error) {
      if (!isCairnError(error) || error.errno !== 'EEXIST') throw error
      const there = await files.stat(place, { follow: false, signal })
      if (there.kind === 'directory') throw error
      if (there.kind === 'symlink' && there.target === leadsTo) return
      await files.remove(place, { signal })
      await files.symlink(leadsTo, place, { signal })
    }
  }

  finish(): Promise<void> {
    return Promise.resolve()
  }

  protected place(path: string): FilePath {
    return remotePath(this.remote.path, path)
  }
}

function octal(mode: number): string {
  return (mode & 0o7777).toString(8).padStart(4, '0')
}
