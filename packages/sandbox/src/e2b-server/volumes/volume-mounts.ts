import { join } from 'node:path'
import type { DaemonCommand } from '@cairn/mount'
import type { Jail } from '../../jail/jail.ts'
import type { Credential } from '../../workspace/credential.ts'
import { JailMount } from '../../workspace/jail-mount.ts'
import type { VolumeMount } from '../sandboxes/record.ts'

const drainMs = 30_000
/** After the end of a jail, for what is still on its way. */
const settleMs = 10_000

export interface VolumeMountsOptions {
  /** What opens the workspaces; it never enters a sandbox. */
  readonly credential: Credential | undefined
  /** Where mounts keep what is not at the server yet. */
  readonly directory: string
  readonly daemon: DaemonCommand | undefined
}

/** The volumes that are mounted in jails, each served by a process of the host. */
export class VolumeMounts {
  readonly #options: VolumeMountsOptions
  readonly #mounts = new Map<Jail, JailMount[]>()

  constructor(options: VolumeMountsOptions) {
    this.#options = options
  }

  async mount(jail: Jail, { name, path }: VolumeMount): Promise<void> {
    const { credential, directory, daemon } = this.#options
    if (credential === undefined)
      throw new Error(`cannot mount volume ${name}: no Cairn server is known`)
    const mounts = this.#mounts.get(jail) ?? []
    const mount = await JailMount.open({
      jail,
      workspace: { name, path: '/', mountPath: path },
      credential,
      // Apart from each other: in each of them a mount is named after its jail.
      mounts: join(directory, `${mounts.length}`),
      daemon,
    })
    this.#mounts.set(jail, [...mounts, mount])
  }

  async drain(jail: Jail): Promise<void> {
    await Promise.all((this.#mounts.get(jail) ?? []).map((mount) => mount.drain(drainMs)))
  }

  /**
   * Call it for a jail that has ended: resolves when nothing of its mounts is left here, or on its
   * way.
   */
  async settle(jail: Jail): Promise<void> {
    const mounts = this.#mounts.get(jail) ?? []
    await Promise.all(mounts.map((mount) => mount.settle(settleMs)))
    this.#mounts.delete(jail)
  }
}
