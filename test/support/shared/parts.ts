import { execFile } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

/** Something that test files ask for by its name, with `askShared`. */
export interface Part {
  readonly value: unknown
  readonly remove: () => Promise<void>
}

const root = fileURLToPath(new URL('../../..', import.meta.url))

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
  /** The directory of the bundled command. It is below node_modules, so that `serve` finds the server. */
  command: async () => {
    const directory = await mkdtemp(join(root, 'node_modules', '.cairn-command-'))
    const bundler = join(root, 'packages/cli/scripts/bundle.mjs')
    await promisify(execFile)(process.execPath, [bundler, directory])
    return { value: directory, remove: () => rm(directory, { recursive: true }) }
  },
}
