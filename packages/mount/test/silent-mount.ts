// A supervisor and its daemon, which makes a file `held NAME` beside its mount when it has taken a request for a name,
// and never answers it. The argument is the directory where everything is. The supervisor prints the daemon's pid once it is ready. A daemon
// that takes over answers, as if the kernel were one that does not ask again what the first had read.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { InitInfo } from '../src/fuse/init.ts'
import type { DaemonStart, MountConfig } from '../src/process/config.ts'
import { daemonMain, takeDescriptors, type ToSupervisor } from '../src/process/daemon.ts'
import { readState } from '../src/process/state.ts'
import { Supervisor } from '../src/process/supervisor.ts'
import { serveFuse } from '../src/fuse/serve.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

const [program, place, role] = process.argv.slice(1) as [string, string, string | undefined]

async function serve({ init }: DaemonStart, supervisor: ToSupervisor): Promise<void> {
  const fs = new MemoryFileSystem()
  if (init === undefined)
    fs.hold = (what) => {
      writeFileSync(join(place, `held ${what}`), '')
      return new Promise(() => undefined)
    }
  const { fd, memory } = await takeDescriptors()
  await serveFuse(fd, fs, {
    memory,
    onInit: (info) => supervisor.send({ type: 'init', info }),
    ...(init !== undefined && { resumed: { ...(init as InitInfo), flags2: 0 } }),
  })
}

async function supervise(): Promise<void> {
  const mountPoint = join(place, 'mount')
  mkdirSync(mountPoint)
  const config = { mountPoint, directory: join(place, 'state'), workspace: 'silent' } as MountConfig
  const args = [...process.execArgv, program, place, 'daemon']
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
