// Mounts a memory file system on the directory given, as the current user; a child reads a file in
// it; unmounts. Prints how it was mounted and what was read.
import { type Mounted, mountFuse, unmount } from '../src/fuse/mounting.ts'
import { serveFuse } from '../src/fuse/serve.ts'
import { runClient } from './client.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

export interface Outcome {
  readonly how: Mounted['how']
  readonly text: unknown
}

const dir = process.argv[2]!
const fs = new MemoryFileSystem()
fs.put('file', 'text')
const { fd, how } = await mountFuse(dir, { fsName: 'mine, all' })
const server = await serveFuse(fd, fs)
const text = await runClient(dir, `return fs.readFileSync(dir + '/file', 'utf8')`)
await unmount(dir)
await server.closed
const outcome: Outcome = { how, text }
console.log(JSON.stringify(outcome))
