import { randomUUID } from 'node:crypto'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import {
  connectE2B,
  E2BSandbox,
  type E2BSandboxOptions,
  type JailOutside,
  serveE2B,
} from '@cairn/sandbox'
import type { SandboxSetup } from '@cairn/sandbox/testing'
import { askShared } from '@cairn/server/testing'
import { startServer } from '../e2e/start-server.ts'

const cairnName = 'cairn.test'
const template = 'with-node'
/** An address of a network reserved for examples: only we answer there. */
const cairnAddress = '192.0.2.1'

export interface E2BSetup extends SandboxSetup {
  readonly make: (
    workspace?: { readonly name: string; readonly layer?: string },
    options?: E2BSandboxOptions,
  ) => E2BSandbox
  /** Where the machines reach the Cairn server. */
  readonly serverInside: string
  /** Where this program does, and its owner's key. */
  readonly server: { readonly url: string; readonly apiKey: string }
  /** What a program that uses the `e2b` package needs. */
  readonly env: Readonly<Record<string, string>>
  /** The name of a template with Node, once there is a workspace. */
  readonly template: string
}

/** A Cairn server, a server that speaks E2B, and a template with the Node that cairn needs. */
export async function openE2BSetup(): Promise<E2BSetup> {
  const directory = await mkdtemp(join(tmpdir(), 'cairn-e2b-'))
  const cairn = await startServer({ allowHosts: [cairnName, cairnAddress] })
  const sandboxes = await serveE2B({
    hostSystem: true,
    data: join(directory, 'e2b'),
    outside: outsideOf(cairn.url),
  })
  const { url: apiUrl, apiKey } = sandboxes
  const connection = { apiKey, apiUrl, sandboxUrl: apiUrl }
  const e2b = await connectE2B({ apiKey, url: apiUrl })
  let preparing: Promise<void> | undefined
  const prepare = async (): Promise<void> => {
    process.env['CAIRN_SINGLE_FILE'] = join((await askShared<string>('command'))!, 'cairn-single')
    await makeTemplate(e2b)
  }
  const hidden = randomUUID()
  const serverInside = `http://${cairnName}:${new URL(cairn.url).port}`
  return {
    serverInside,
    server: { url: cairn.url, apiKey: cairn.apiKey },
    env: sandboxes.env,
    template,
    secrets: [cairn.apiKey, apiKey, hidden],
    make: (workspace, options) =>
      new E2BSandbox({
        ...connection,
        envs: { HIDDEN: hidden },
        ...(workspace && {
          template,
          workspace: { ...workspace, server: cairn.url, token: cairn.apiKey },
          serverInside,
        }),
        ...options,
      }),
    makeWorkspace: async () => {
      await (preparing ??= prepare())
      const name = `w-${randomUUID().slice(0, 8)}`
      await cairn.cairn.workspaces.create(name)
      return cairn.cairn.workspace(name)
    },
    close: async () => {
      delete process.env['CAIRN_SINGLE_FILE']
      await sandboxes.close()
      await cairn.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

/** The network of the machines: one name, which is the Cairn server. */
function outsideOf(url: string): JailOutside {
  return {
    resolve: (name) => Promise.resolve(name === cairnName ? [cairnAddress] : []),
    connect: (address, port) =>
      new Promise((resolve, reject) => {
        if (address !== cairnAddress) return reject(new Error(`nothing listens at ${address}`))
        const host = new URL(url).hostname
        const socket = connect({ host, port, allowHalfOpen: true }, () => resolve(socket))
        socket.once('error', reject)
      }),
  }
}

/** The system's own Node may be older than cairn can use. */
async function makeTemplate(e2b: Awaited<ReturnType<typeof connectE2B>>): Promise<void> {
  const sandbox = await e2b.Sandbox.create()
  const node = new Blob([await readFile(process.execPath)])
  await sandbox.files.write('/usr/local/bin/node', node, { user: 'root', useOctetStream: true })
  await sandbox.commands.run('chmod 0755 /usr/local/bin/node', { user: 'root' })
  await sandbox.createSnapshot({ name: template })
  await sandbox.kill()
}
