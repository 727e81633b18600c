import { randomUUID } from 'node:crypto'
import { existsSync } from 'node:fs'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { LocalSandbox, type LocalSandboxOptions } from '@cairn/sandbox'
import type { SandboxSetup } from '@cairn/sandbox/testing'
import type { Cairn, Workspace } from '@cairn/sdk'
import { startServer } from '../e2e/start-server.ts'

/** Why no jail can be made here; undefined where one can. */
export const noJail: string | undefined =
  process.getuid?.() === 0
    ? existsSync('/dev/fuse')
      ? undefined
      : 'there is no /dev/fuse'
    : 'it needs root'

/** Why no jail with a disk of limited size can. */
export const noDiskLimit: string | undefined =
  noJail ??
  (existsSync('/dev/loop-control') && existsSync('/usr/sbin/mkfs.ext4')
    ? undefined
    : 'there are no loop devices or no mkfs.ext4')

export interface LocalSetup extends SandboxSetup {
  readonly make: (
    workspace?: { readonly name: string; readonly layer?: string },
    options?: LocalSandboxOptions,
  ) => LocalSandbox
  readonly directory: string
  readonly server: string
}

/** A server, and jails on a directory of their own. */
export async function openLocalSetup(): Promise<LocalSetup> {
  const server = await startServer()
  const directory = await mkdtemp(join(tmpdir(), 'cairn-jails-'))
  const hidden = randomUUID()
  return {
    directory,
    server: server.url,
    secrets: [server.apiKey, hidden],
    make: (workspace, options) =>
      new LocalSandbox({
        directory,
        envs: { HIDDEN: hidden },
        ...(workspace && {
          workspace: {
            name: workspace.name,
            ...(workspace.layer && { layer: workspace.layer }),
            server: server.url,
            token: server.apiKey,
          },
        }),
        ...options,
      }),
    makeWorkspace: () => makeWorkspace(server.cairn),
    close: async () => {
      await server.stop()
      await rm(directory, { recursive: true, force: true })
    },
  }
}

async function makeWorkspace(cairn: Cairn): Promise<Workspace> {
  const name = `w-${randomUUID().slice(0, 8)}`
  await cairn.workspaces.create(name)
  return cairn.workspace(name)
}
