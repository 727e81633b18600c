// A daemon in a process of its own: serves a memory file system on descriptor 3, with descriptor 5 as the memory of its
// requests. Its argument is JSON: `resumed`, what an earlier process agreed on with the kernel; `hold`, the beginning of
// names whose lookup is never answered; `dieAt`, a name at whose lookup it is killed.
import { type InitInfo } from '../src/fuse/init.ts'
import { loadFuseIo } from '../src/fuse/native.ts'
import { requestMemoryBytes } from '../src/fuse/request-memory.ts'
import { serveFuse } from '../src/fuse/serve.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

export interface DaemonSettings {
  readonly resumed?: InitInfo
  readonly hold?: string
  readonly dieAt?: string
}

export type DaemonReport = { readonly agreed: InitInfo } | { readonly held: string }

const settings = JSON.parse(process.argv[2]!) as DaemonSettings
const report = (what: DaemonReport): void => void process.send!(what)

const fs = new MemoryFileSystem()
fs.put('file', 'from a daemon')
fs.hold = (what) => {
  if (what === settings.dieAt) process.kill(process.pid, 'SIGKILL')
  if (settings.hold === undefined || !what.startsWith(settings.hold)) return undefined
  report({ held: what })
  return new Promise(() => undefined)
}
const memory = (await loadFuseIo()).mapFile(5, requestMemoryBytes, undefined) as ArrayBuffer
await serveFuse(3, fs, {
  memory,
  onInit: (agreed) => report({ agreed }),
  ...(settings.resumed !== undefined && { resumed: settings.resumed }),
})
