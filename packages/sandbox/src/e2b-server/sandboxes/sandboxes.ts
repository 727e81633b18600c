import { randomBytes } from 'node:crypto'
import { notFound } from '../api-error.ts'
import type { Build, Template } from '../template.ts'
import type { Host } from './host.ts'
import { HostedSandbox } from './hosted-sandbox.ts'
import type { Lifecycle, NetworkRules, SandboxRecord, VolumeMount } from './record.ts'

export interface NewSandbox {
  readonly template: Template
  readonly build: Build
  readonly alias: string | undefined
  readonly lifetimeMs: number
  readonly metadata: Readonly<Record<string, string>>
  readonly envVars: Readonly<Record<string, string>>
  readonly lifecycle: Lifecycle
  readonly network: NetworkRules
  readonly allowInternetAccess: boolean | undefined
  readonly volumeMounts: readonly VolumeMount[]
}

/** Every sandbox of the server. */
export class Sandboxes {
  readonly #host: Host
  readonly #all = new Map<string, HostedSandbox>()

  /** `kept`: those that were paused when an earlier server ended. */
  constructor(host: Host, kept: readonly SandboxRecord[]) {
    this.#host = host
    for (const record of kept) this.#add(record)
  }

  all(): HostedSandbox[] {
    return [...this.#all.values()]
  }

  /** Clients may add the old `-<client>` to an id. */
  find(id: string): HostedSandbox | undefined {
    return this.#all.get(id.split('-')[0] ?? '')
  }

  get(id: string): HostedSandbox {
    const found = this.find(id)
    if (found === undefined) throw notFound(`sandbox "${id}"`)
    return found
  }

  async create(options: NewSandbox): Promise<HostedSandbox> {
    const sandbox = this.#add(recordOf(options))
    await sandbox.start()
    return sandbox
  }

  /** With the disk, settings and rules of another, under an id and tokens of its own. */
  async createLike(
    record: SandboxRecord,
    disk: string,
    lifetimeMs: number,
  ): Promise<HostedSandbox> {
    const now = Date.now()
    const sandbox = this.#add({
      ...record,
      ...newSecrets(record.network),
      id: newId(),
      startedAt: now,
      endAt: now + lifetimeMs,
      disk,
      ownsDisk: false,
      pausedDisk: undefined,
    })
    await sandbox.start()
    return sandbox
  }

  async close(): Promise<void> {
    await Promise.all(this.all().map((sandbox) => sandbox.retire()))
  }

  #add(record: SandboxRecord): HostedSandbox {
    const sandbox = new HostedSandbox(record, this.#host, ({ record: { id } }) => {
      this.#all.delete(id)
    })
    this.#all.set(record.id, sandbox)
    return sandbox
  }
}

function recordOf({ template, build, lifetimeMs, envVars, ...given }: NewSandbox): SandboxRecord {
  const now = Date.now()
  return {
    ...given,
    ...newSecrets(given.network),
    id: newId(),
    templateId: template.id,
    settings: { ...build.settings, env: { ...build.settings.env, ...envVars } },
    startCommand: build.startCommand,
    readyCommand: build.readyCommand,
    cpuCount: build.cpuCount,
    memoryMB: build.memoryMB,
    startedAt: now,
    endAt: now + lifetimeMs,
    state: 'running',
    disk: build.disk,
    ownsDisk: false,
    pausedDisk: undefined,
    isColdPause: false,
  }
}

function newSecrets({ allowPublicTraffic }: NetworkRules): {
  accessToken: string
  trafficToken: string | undefined
} {
  return {
    accessToken: randomBytes(32).toString('hex'),
    trafficToken: allowPublicTraffic === false ? randomBytes(32).toString('hex') : undefined,
  }
}

/** Like E2B's: an `i` and 20 characters of base 36, and never a dash, which host names are split at. */
function newId(): string {
  const digits = Array.from(randomBytes(20), (byte) => (byte % 36).toString(36))
  return `i${digits.join('')}`
}
