import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { copyFile, mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { basename, join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { buildFuseIo, buildStandby } from '@cairn/mount/native/build'
import { buildJailHelper } from '@cairn/sandbox/native/build'
import { Cairn } from '@cairn/sdk'

/** Something that test files ask for by its name, with `askShared`. */
export interface Part {
  readonly value: unknown
  readonly remove: () => Promise<void>
}

const root = fileURLToPath(new URL('../..', import.meta.url))

/** Each is called once in a run, when a file first asks for it: most runs of a few files need none. */
export const makers: Readonly<Record<string, () => Promise<Part>>> = {
  mysql: async () => {
    const { MariadbServer } = await import('@cairn/server/testing')
    const server = await MariadbServer.start()
    return { value: `mysql://root@127.0.0.1:${server.port}/mysql`, remove: () => server.stop() }
  },
  ceph: async () => {
    const { CephServer } = await import('@cairn/server/testing')
    const server = await CephServer.start()
    const { port, endpoint, credentials } = server
    return { value: { port, endpoint, credentials }, remove: () => server.stop() }
  },
  /** The directory of the command as it is published. Below node_modules `serve` finds the server. */
  command: async () => {
    const directory = await mkdtemp(join(root, 'node_modules', '.cairn-command-'))
    await bundle('bundle.mjs', directory)
    return { value: directory, remove: () => rm(directory, { recursive: true }) }
  },
  /** The whole program in one bundle, from which a server starts faster than from its sources. */
  program: async () => {
    const directory = await mkdtemp(join(tmpdir(), 'cairn-program-'))
    await bundle('whole-bundle.mjs', directory)
    for (const piece of [buildFuseIo(), buildStandby(), buildJailHelper()])
      await copyFile(piece, join(directory, basename(piece)))
    const program = join(directory, 'cairn.js')
    const data = join(directory, 'data')
    await prepareData(program, data)
    return { value: { program, data }, remove: () => rm(directory, { recursive: true }) }
  },
}

/** What tests of mounts ask for as `program`: the file to run, and a server's data with the workspace `demo`, to be copied. */
export interface SharedProgram {
  readonly program: string
  readonly data: string
}

async function prepareData(program: string, data: string): Promise<void> {
  const args = [program, 'serve', '--data', data, '--listen', '127.0.0.1:0', '--json']
  const server = spawn(process.execPath, args, { stdio: ['ignore', 'pipe', 'inherit'] })
  const ended = once(server, 'exit')
  const [line] = (await once(createInterface(server.stdout), 'line')) as [string]
  const key = await readFile(join(data, 'owner-key'), 'utf8')
  const { url } = JSON.parse(line) as { readonly url: string }
  await new Cairn({ server: url, apiKey: key.trim() }).workspaces.create('demo')
  server.kill('SIGTERM')
  await ended
}

async function bundle(script: string, directory: string): Promise<void> {
  const path = join(root, 'packages/cli/scripts', script)
  await promisify(execFile)(process.execPath, [path, directory])
}
