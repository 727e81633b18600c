// A daemon in a process of its own: serves a memory file system on descriptor 3. Its argument is JSON:
// `resumed`, what an earlier process agreed on with the kernel, and `hold`, a name whose lookup is never answered.
import { type InitInfo } from '../src/fuse/init.ts'
import { serveFuse } from '../src/fuse/serve.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

export interface DaemonSettings {
  readonly resumed?: InitInfo
  readonly hold?: string
}

export type DaemonReport = { readonly agreed: InitInfo } | { readonly held: string }

const settings = JSON.parse(process.argv[2]!) as DaemonSettings
const report = (what: DaemonReport): void => void process.send!(what)

const fs = new MemoryFileSystem()
fs.put('file', 'from a daemon')
fs.hold = (what) => {
  if (what !== settings.hold) return undefined
  report({ held: what })
  return new Promise(() => undefined)
}
await serveFuse(3, fs, {
  onInit: (agreed) => report({ agreed }),
  ...(settings.resumed !== undefined && { resumed: settings.resumed }),
})
