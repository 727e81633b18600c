// A supervisor and its daemon, which makes a file `held` beside its mount when it has taken a request, and never answers
// it. The argument is the directory where everything is. The supervisor prints the daemon's pid once it is ready.
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { MountConfig } from '../src/process/config.ts'
import { daemonMain, takeDescriptor } from '../src/process/daemon.ts'
import { readState } from '../src/process/state.ts'
import { Supervisor } from '../src/process/supervisor.ts'
import { serveFuse } from '../src/fuse/serve.ts'
import { MemoryFileSystem } from './memory-file-system.ts'

const [program, place, role] = process.argv.slice(1) as [string, string, string | undefined]

async function answerNothing(): Promise<void> {
  const fs = new MemoryFileSystem()
  fs.hold = () => {
    writeFileSync(join(place, 'held'), '')
    return new Promise(() => undefined)
  }
  await serveFuse(await takeDescriptor(), fs)
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
  await daemonMain(async (_, supervisor) => {
    await answerNothing()
    supervisor.send({ type: 'ready' })
    await new Promise(() => undefined)
  })
else await supervise()
