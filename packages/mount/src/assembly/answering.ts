import { now } from '../clock.ts'
import { MountedFileSystem } from '../filesystem/mounted-file-system.ts'
import { seekAtServer } from '../filesystem/seek.ts'
import { durabilities } from '../sync/durability.ts'
import type { Assemblies } from './mount-events.ts'

/** The file system that answers the kernel, from all the other parts. */
export function answering(parts: Assemblies): MountedFileSystem {
  const { session, sending, reading, writing } = parts
  return new MountedFileSystem({
    image: reading.image,
    contents: reading.contents,
    blocks: reading.blocks,
    loader: reading.loader,
    nodes: reading.nodes,
    owners: reading.owners,
    caches: reading.caches,
    sharing: reading.sharing,
    contested: reading.contested,
    writer: writing.writer,
    contact: session.options.contact,
    classes: writing.classes,
    numbers: writing.numbers,
    toolCalls: writing.toolCalls,
    locks: writing.locks,
    room: sending.room,
    now,
    askSeek: seekAtServer(session.ask),
    findDone: async (request) => sending.doneBefore?.find(request),
    waits: durabilities[session.options.durability].waits,
  })
}
