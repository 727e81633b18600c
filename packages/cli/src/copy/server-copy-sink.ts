import { type BatchOperation, isCairnError, spelled } from '@cairn/sdk'
import type { Remote } from '../remote/open.ts'
import { remotePath } from './remote-path.ts'
import { RemoteSink } from './remote-sink.ts'
import type { Moving, TreeEntry } from './tree.ts'
import type { UploadPlan } from './upload-file.ts'

/** Copies inside of one workspace: the server does it, and no byte comes here. */
export class ServerCopySink extends RemoteSink {
  readonly #root: string

  constructor(remote: Remote, sourceRoot: string, plan: UploadPlan) {
    super(remote, plan)
    this.#root = sourceRoot
  }

  override async writeFile(
    { path, size }: TreeEntry,
    _: unknown,
    { signal, onBytes }: Moving,
  ): Promise<void> {
    const { workspace } = this.remote
    const from = remotePath(this.#root, path)
    const to = this.place(path)
    // All or none: a copy is never there without its tags.
    const operations: BatchOperation[] = [
      { op: 'copy', ...spelled('path', from), ...spelled('to', to), parents: true },
      ...(this.plan.tags
        ? [{ op: 'tag', ...spelled('path', to), tags: this.plan.tags } as const]
        : []),
    ]
    try {
      await workspace.batch(operations, { signal })
    } catch (error) {
      if (!isCairnError(error) || error.errno !== 'EEXIST') throw error
      // The target is never missing, and a directory in its place makes all of it fail.
      await workspace.batch([{ op: 'remove', ...spelled('path', to) }, ...operations], { signal })
    }
    onBytes(size)
  }
}
