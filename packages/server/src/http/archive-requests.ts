import { Readable } from 'node:stream'
import { createGzip } from 'node:zlib'
import type { Pacer, View } from '@cairn/core'
import { type ByteString, gatherChunks, type ImportReceipt } from '@cairn/protocol'
import type { FastifyReply } from 'fastify'
import { ArchiveRoom } from '../archive/archive-room.ts'
import { importArchive } from '../archive/import-archive.ts'
import { type ArchiveEntry, receiveArchive } from '../archive/receive-archive.ts'
import { findArchived, writeArchive } from '../archive/write-archive.ts'
import { endDraft } from '../files/end-draft.ts'
import { countContent } from './arrival.ts'
import type { Body } from './body.ts'
import { readTarget, type Target } from './context.ts'
import { OperationFailed } from './errors.ts'

export type ArchiveForm = 'tar' | 'tgz'

/** Puts a tar archive at a path, all of it or nothing. */
export async function importTar(
  target: Target,
  path: ByteString,
  body: Body | undefined,
  { keepTimes, wantsInodes }: { readonly keepTimes: boolean; readonly wantsInodes: boolean },
): Promise<ImportReceipt> {
  const { stores, clock } = target.workspace
  const draft = stores.blobs.draft(() => clock.nowMs())
  const onError = (error: ConstructorParameters<typeof OperationFailed>[0], entry: ArchiveEntry) =>
    new OperationFailed(error, Buffer.from(entry.names.join('/'), 'latin1').toString())
  const room = new ArchiveRoom()
  try {
    return await countContent(target, (onContent) =>
      endDraft(
        draft,
        () => receiveArchive(body ?? Readable.from([]), draft.blobs, { onContent, room }),
        async (entries) => {
          const { seq, inodes } = await importArchive(target, path, entries, { keepTimes, onError })
          const counts = await countEntries(entries, stores.nodes.pacer)
          const runs = wantsInodes ? inodes?.toJson() : undefined
          return { seq, ...counts, ...(runs && { inodes: runs }) }
        },
      ),
    )
  } finally {
    room.end()
  }
}

async function countEntries(
  entries: readonly ArchiveEntry[],
  pacer: Pacer,
): Promise<Omit<ImportReceipt, 'seq' | 'inodes'>> {
  const count = { files: 0, directories: 0, symlinks: 0, links: 0, bytes: 0 }
  const fields = {
    file: 'files',
    directory: 'directories',
    symlink: 'symlinks',
    link: 'links',
  } as const
  for (const { kind, size } of entries) {
    if (pacer.isDue()) await pacer.rest()
    count[fields[kind]]++
    count.bytes += size
  }
  return count
}

/** A subtree as one tar archive, of the point that the request names. */
export async function sendArchive(
  reply: FastifyReply,
  target: Target,
  path: ByteString,
  form: ArchiveForm,
): Promise<unknown> {
  // One moment: what changes later does not mix into the archive.
  const snapshot = target.snapshot ?? (await target.branch.fold()).snapshot
  const tree = {
    read: <T>(read: (view: View) => T) => readTarget({ ...target, snapshot }, read),
    stores: target.workspace.stores,
    grant: target.asker.scope?.grant,
  }
  // What is wrong with the path is in the status, so it must be known before anything is sent.
  const root = await findArchived(tree, path)
  const plain = Readable.from(gatherChunks(writeArchive(tree, root)), { objectMode: false })
  void reply.type(form === 'tar' ? 'application/x-tar' : 'application/gzip')
  if (form === 'tar') return reply.send(plain)
  const zipped = createGzip()
  plain.on('error', (error) => zipped.destroy(error))
  return reply.send(plain.pipe(zipped))
}
