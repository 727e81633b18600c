import { randomBytes } from 'node:crypto'
import { mkdir, mkdtemp, readFile, rm } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { E2BSandbox, LocalSandbox, type LocalSandboxOptions, type Sandbox } from '@cairn/sandbox'
import { Cairn, type Workspace } from '@cairn/sdk'
import { serve } from '@cairn/server'
import type { Cleanups } from './cleanups.ts'
import { assertSandboxes } from './preflight.ts'
import type { Settings } from './settings.ts'
import type { Steps } from './steps.ts'

/** A server with a workspace, and sandboxes that have it mounted. */
export interface World {
  readonly workspace: Workspace
  /** Makes it, with the workspace mounted: commands can run. */
  readonly startSandbox: (local?: LocalSandboxOptions) => Promise<Sandbox>
}

interface Server {
  readonly url: string
  readonly apiKey: string
}

/** A git server is slow to answer at times; so is a model. */
const sandboxLifeMs = 600_000

/** Everything it makes is undone by `cleanups`, but for the workspace on a server or in a directory that was given. */
export async function openWorld(
  settings: Settings,
  cleanups: Cleanups,
  steps: Steps,
): Promise<World> {
  if (settings.provider === 'local') assertSandboxes()
  const directory = await makeDirectory(cleanups)
  const data = settings.data ? resolve(settings.data) : join(directory, 'server')
  const server = await steps.run(
    'server',
    () => findServer(settings, data, cleanups),
    ({ url }) => (settings.server ? url : `embedded, at ${url}, data in ${data}`),
  )
  const cairn = new Cairn({ server: server.url, apiKey: server.apiKey })
  const name = settings.workspace ?? `demo-${randomBytes(3).toString('hex')}`
  await steps.run(
    'workspace',
    () => ensureWorkspace(cairn, name),
    () => name,
  )
  return {
    workspace: cairn.workspace(name),
    startSandbox: async (local) => {
      const workspace = { name, server: server.url, token: server.apiKey }
      const sandbox =
        settings.provider === 'e2b'
          ? new E2BSandbox({
              template: settings.template,
              timeoutMs: sandboxLifeMs,
              workspace,
              ...(settings.serverInside && { serverInside: settings.serverInside }),
            })
          : new LocalSandbox({ ...local, directory: join(directory, 'jails'), workspace })
      cleanups.add(() => sandbox.dispose({ drain: false }))
      await sandbox.init()
      return sandbox
    },
  }
}

/** On a disk where there is a choice: jails keep theirs in it, and /tmp is memory on many machines. */
async function makeDirectory(cleanups: Cleanups): Promise<string> {
  const base = process.env['TMPDIR'] || '/var/tmp'
  const directory = await mkdtemp(join(base, 'cairn-example-'))
  cleanups.add(() => rm(directory, { recursive: true, force: true }))
  return directory
}

async function findServer(settings: Settings, data: string, cleanups: Cleanups): Promise<Server> {
  if (settings.server) return settings.server
  await mkdir(data, { recursive: true, mode: 0o700 })
  const { url, close } = await serve({ data, listen: '127.0.0.1:0' })
  cleanups.add(close)
  const apiKey = (await readFile(join(data, 'owner-key'), 'utf8')).trim()
  return { url, apiKey }
}

async function ensureWorkspace(cairn: Cairn, name: string): Promise<void> {
  for await (const known of cairn.workspaces.list()) if (known.name === name) return
  await cairn.workspaces.create(name)
}
