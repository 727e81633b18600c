import { now } from '../clock.ts'
import type { InitInfo } from '../fuse/init.ts'
import { serveFuse } from '../fuse/serve.ts'
import type { MountStatus } from '../mount-status.ts'
import type { DaemonStart, MountConfig } from '../process/config.ts'
import { closeControl, serveControl } from '../process/control.ts'
import {
  daemonMain,
  processesOf,
  takeDescriptors,
  type ToSupervisor,
  unmounted,
} from '../process/daemon.ts'
import { VaultFileSystem, type VaultSource } from './vault-file-system.ts'

/** The life of a daemon that shows a vault. Gives its exit code. */
export function vaultDaemonMain(open: (config: MountConfig) => VaultSource): Promise<number> {
  return daemonMain((start, supervisor) => runVaultDaemon(start, supervisor, open(start.config)))
}

async function runVaultDaemon(
  { config, init }: DaemonStart,
  supervisor: ToSupervisor,
  source: VaultSource,
): Promise<void> {
  const { fd, memory } = await takeDescriptors()
  // A caller without any access learns it now, and not from an empty directory. Later the kernel
  // must not wait for a server.
  if (init === undefined) await source.list()
  const errors: string[] = []
  const kernel = await serveFuse(fd, new VaultFileSystem(source, now), {
    memory,
    onInit: (info) => supervisor.send({ type: 'init', info }),
    onError: (error) => errors.push(error instanceof Error ? error.message : String(error)),
    ...(init === undefined ? {} : { resumed: init as InitInfo }),
  })
  const control = serveControl(config.directory, async ({ command }) => {
    if (command === 'unmount') await unmounted(supervisor, kernel.closed)
    const { mountPoint, workspace, branch } = config
    return { mountPoint, workspace, branch, ...processesOf(config), ...statusOf(errors) }
  })
  supervisor.listen(({ type }) => {
    if (type === 'stop') supervisor.send({ type: 'unmount' })
  })
  supervisor.send({ type: 'ready' })
  await kernel.closed
  await closeControl(control)
}

/** Nothing is written, kept or waited for. */
function statusOf(errors: readonly string[]): MountStatus {
  return {
    connected: true,
    standing: 'none',
    pendingOps: 0,
    pendingBytes: 0,
    pendingMs: 0,
    cacheBytes: 0,
    knownInodes: 0,
    seq: 0,
    errors: errors.slice(-100),
    log: [],
    rescues: [],
  }
}
