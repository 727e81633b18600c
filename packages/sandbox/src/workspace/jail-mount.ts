import { existsSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  askControl,
  type DaemonCommand,
  findLeftBehind,
  memoryBudget,
  type MountConfig,
  type Mounter,
  type MountStatus,
  Supervisor,
} from '@cairn/mount'
import { toByteString } from '@cairn/protocol'
import type { Jail } from '../jail/jail.ts'
import { isRoot, ordinaryUser } from '../jail/users.ts'
import { runInside } from './run-inside.ts'
import type { WorkspaceStatus } from '../sandbox.ts'
import type { Credential } from './credential.ts'
import { takeDirectory } from './find-abandoned.ts'
import type { WorkspaceReference } from './reference.ts'

export interface JailMountOptions {
  readonly jail: Jail
  readonly workspace: WorkspaceReference
  readonly credential: Credential
  /** For what a killed mount left: a session under a token goes on under no other one, but under its owner's key. */
  readonly heir?: Credential
  /** Where mounts keep what is not at the server yet. */
  readonly mounts: string
  /** Who answers the kernel; default: this package's own process. */
  readonly daemon?: DaemonCommand | undefined
}

const cacheBytes = 1 << 30
/** A program that is told to be quick gets no answer from a server that is gone. */
const verifyMs = 30_000

/**
 * A workspace in a jail, served by a process of the host: no key is in the jail, and what programs in it were told is
 * written reaches the server even if the jail is killed.
 */
export class JailMount {
  readonly #options: JailMountOptions
  readonly #config: MountConfig
  readonly #supervisor: Supervisor
  #isGone = false

  private constructor(options: JailMountOptions, config: MountConfig) {
    this.#options = options
    this.#config = config
    this.#supervisor = new Supervisor(this.#config, options.daemon ?? ownDaemon())
    void this.#supervisor.ended.then(() => (this.#isGone = true))
  }

  /** Resolves when a program in the jail has seen the workspace there. Rejects with the step that failed. */
  static async open(options: JailMountOptions): Promise<JailMount> {
    const config = await configOf(options)
    const mount = new JailMount(options, config)
    const step = async (what: string, run: () => Promise<void>): Promise<void> =>
      run().catch((error: unknown) => {
        throw cannot(options.workspace, what, error)
      })
    await step('make the mount point', () => mount.#makeMountPoint())
    await step('mount', async () => {
      await mount.#supervisor.start()
      await mount.#supervisor.ready
    })
    await step('verify', () => mount.#verify())
    return mount
  }

  /** Throws when programs would no longer find the workspace in its place. */
  assertMounted(): void {
    if (this.#isGone)
      throw cannot(this.#options.workspace, 'reach', new Error('its daemon has ended'))
  }

  async status(): Promise<WorkspaceStatus> {
    const { name, layer, mountPath } = this.#options.workspace
    const { connected, pendingOps, pendingBytes } = (await askControl(
      this.#config.directory,
      'status',
    )) as MountStatus
    return { name, ...(layer && { layer }), mountPath, connected, pendingOps, pendingBytes }
  }

  /** Resolves when everything is at the server. */
  async drain(timeoutMs: number): Promise<void> {
    this.assertMounted()
    const limit = AbortSignal.timeout(timeoutMs)
    await askControl(this.#config.directory, 'drain', undefined, limit).catch((error: unknown) => {
      const { name } = this.#options.workspace
      const why = limit.aborted ? `not done after ${timeoutMs} ms` : String(error)
      throw new Error(
        `cannot bring what was written to workspace ${name} to the server: ${why}. ` +
          `Try again, or end the sandbox without waiting: the rest is kept in ${this.#config.cacheDirectory}.`,
        { cause: error },
      )
    })
  }

  /** When the jail is gone: waits until the rest is at the server, for so long. False when it is still on its way. */
  async settle(timeoutMs: number): Promise<boolean> {
    const late = new AbortController()
    await Promise.race([
      this.#supervisor.ended,
      sleep(timeoutMs, undefined, { signal: late.signal }).catch(() => undefined),
    ])
    late.abort()
    const { cacheDirectory, directory } = this.#config
    if (this.#isGone && findLeftBehind(cacheDirectory).operations === 0)
      await rm(directory, { recursive: true, force: true })
    return this.#isGone
  }

  /** Owned by root and closed: without the mount no program writes here by mistake. */
  async #makeMountPoint(): Promise<void> {
    const { mountPath } = this.#options.workspace
    const script = 'test -d "$1" || { mkdir -p "$1" && chmod 0555 "$1"; }'
    const args = ['/bin/sh', '-c', script, 'sh', mountPath]
    const { code, stderr } = await runInside(this.#options.jail, { args, user: 'root' })
    if (code !== 0) throw new Error(stderr.trim())
  }

  async #verify(): Promise<void> {
    const { mountPath, name } = this.#options.workspace
    const script =
      'test "$(stat -f -c %T "$1")" = fuseblk -o "$(stat -f -c %T "$1")" = fuse || exit; ' +
      'grep -qxF "workspace: $2" "$1/.cairn/status"'
    const args = ['/bin/sh', '-c', script, 'sh', mountPath, name]
    const { code, stderr } = await runInside(this.#options.jail, { args }, { timeoutMs: verifyMs })
    if (code !== 0) throw new Error(stderr.trim() || `it does not appear at ${mountPath}`)
  }
}

function cannot({ name, mountPath }: WorkspaceReference, step: string, cause: unknown): Error {
  const why = cause instanceof Error ? cause.message : String(cause)
  return new Error(
    `cannot use workspace ${name} at ${mountPath} in the sandbox: ${step}: ${why}. No command was run.`,
    { cause },
  )
}

async function configOf(options: JailMountOptions): Promise<MountConfig> {
  const { jail, workspace, credential, heir = credential, mounts } = options
  const files = {
    server: credential.server,
    workspace: workspace.name,
    branch: workspace.layer ?? 'main',
    path: toByteString(new TextEncoder().encode(workspace.path)),
  }
  const { directory, isAbandoned } = await takeDirectory(mounts, jail.id, files)
  return {
    ...files,
    mountPoint: workspace.mountPath,
    key: isAbandoned ? heir.key : credential.key,
    readOnly: workspace.readOnly ?? false,
    allowOther: true,
    sharedLocks: false,
    toolCalls: true,
    durability: 'auto',
    directory,
    cacheDirectory: join(directory, 'spool'),
    cacheBytes,
    memoryBytes: memoryBudget(),
    // In an ordinary user's jail everybody is root, and root's files are as they should be.
    uid: isRoot() ? ordinaryUser.uid : undefined,
    gid: isRoot() ? ordinaryUser.gid : undefined,
    mounter: jail.fuseMounter as Mounter,
  }
}

/** Beside this file, compiled or not. */
function ownDaemon(): DaemonCommand {
  const source = fileURLToPath(new URL('./mount-daemon.ts', import.meta.url))
  const compiled = fileURLToPath(new URL('./mount-daemon.js', import.meta.url))
  return existsSync(compiled)
    ? { file: process.execPath, args: [compiled] }
    : { file: process.execPath, args: ['--conditions=source', source] }
}
