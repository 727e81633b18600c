// A supervisor and its daemon, which makes a file `held NAME` beside its mount when it has taken a request for a name,
// and never answers it. Only the file `page` can be opened; for a read of it, the daemon also tells the kernel that the
// file has changed. Arguments: the directory where everything is, and the one for the state. The supervisor prints the
// daemon's pid once it is ready. A daemon that takes over answers, as if the kernel were one that does not ask again what
// the first had read.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { ByteString } from '@cairn/protocol'
import type { InitInfo } from '../src/fuse/init.ts'
import type { DaemonStart, MountConfig } from '../src/process/config.ts'
import { daemonMain, takeDescriptors, type ToSupervisor } from '../src/process/daemon.ts'
import { readState } from '../src/process/state.ts'
import { Supervisor } from '../src/process/supervisor.ts'
import { serveFuse } from '../src/fuse/serve.ts'
import { Notifier } from '../src/fuse/notifier.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

const [program, place, directory, role] = process.argv.slice(1) as [
  string,
  string,
  string,
  string | undefined,
]

async function serve({ init }: DaemonStart, supervisor: ToSupervisor): Promise<void> {
  const fs = new MemoryFileSystem()
  const { fd, memory } = await takeDescriptors()
  const { nodeid } = fs.put('page' as ByteString, 'x')
  const notifier = new Notifier(fd)
  if (init === undefined)
    fs.hold = (what) => {
      if (what === '.cairn' || what === 'page') return undefined
      writeFileSync(join(place, `held ${what.replace(String(nodeid), 'page')}`), '')
      // The kernel has locked this page until it gets it, and the thread that writes this waits for the lock.
      if (what.startsWith('read')) notifier.invalidateInode(nodeid)
      return new Promise(() => undefined)
    }
  await serveFuse(fd, fs, {
    memory,
    onInit: (info) => supervisor.send({ type: 'init', info }),
    ...(init !== undefined && { resumed: { ...(init as InitInfo), flags2: 0 } }),
  })
}

async function supervise(): Promise<void> {
  const mountPoint = join(place, 'mount')
  mkdirSync(mountPoint)
  const config = {
    mountPoint,
    directory,
    cacheDirectory: join(directory, 'spool'),
    workspace: 'silent',
    branch: 'main',
    path: '/',
  } as MountConfig
  const args = [...process.execArgv, program, place, directory, 'daemon']
  const supervisor = new Supervisor(config, { file: process.execPath, args })
  await supervisor.start()
  await supervisor.ready
  console.log(readState(config.directory)!.daemon!.pid)
}

if (role === 'daemon')
  await daemonMain(async (start, supervisor) => {
    await serve(start, supervisor)
    supervisor.send({ type: 'ready' })
    await new Promise(() => undefined)
  })
else await supervise()
