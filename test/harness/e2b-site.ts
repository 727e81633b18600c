import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll } from 'vitest'
import {
  type Harness,
  type HarnessOptions,
  type InstanceStore,
  openHarness,
  openSqliteInstances,
  type ProviderInput,
} from '@cairn/agents/harness'
import { connectE2B } from '@cairn/sandbox'
import type { Workspace } from '@cairn/sdk'
import { type E2BSetup, openE2BSetup } from '../sandbox/e2b-setup.ts'

type Wish = Partial<ProviderInput> & { readonly options?: object }

export interface HarnessSite {
  readonly setup: E2BSetup
  readonly store: InstanceStore
  /** A harness at a server that speaks E2B; closed after the last test. */
  readonly open: (
    workspace: string | undefined,
    config?: Wish,
    options?: Partial<HarnessOptions>,
  ) => Harness
  readonly makeWorkspace: () => Promise<Workspace>
  /** The ids of all machines. */
  readonly machines: () => Promise<string[]>
  /** The unmodified SDK. */
  readonly e2b: Awaited<ReturnType<typeof connectE2B>>
  /** Where machines reach the Cairn server by its address, and not by a name. */
  readonly addressInside: string
}

/** A Cairn server, a server that speaks E2B, and a store of reservations. */
export function useHarnessSite(): HarnessSite {
  const parts = {} as { setup: E2BSetup; store: InstanceStore; e2b: HarnessSite['e2b'] }
  const opened: Harness[] = []
  let directory: string
  beforeAll(async () => {
    directory = await mkdtemp(join(tmpdir(), 'cairn-harness-'))
    parts.setup = await openE2BSetup()
    parts.store = await openSqliteInstances(join(directory, 'instances.db'))
    const { E2B_API_KEY: apiKey = '', E2B_API_URL: url = '' } = parts.setup.env
    parts.e2b = await connectE2B({ apiKey, url })
  }, 180_000)
  afterAll(async () => {
    for (const harness of opened) await harness.close()
    await parts.store.close()
    await parts.setup.close()
    await rm(directory, { recursive: true })
  })
  const address = (): string => `http://192.0.2.1:${new URL(parts.setup.server.url).port}`
  return {
    get setup() {
      return parts.setup
    },
    get store() {
      return parts.store
    },
    get e2b() {
      return parts.e2b
    },
    get addressInside() {
      return address()
    },
    makeWorkspace: () => parts.setup.makeWorkspace(),
    machines: async () => {
      const list = parts.e2b.Sandbox.list()
      const ids: string[] = []
      while (list.hasNext) for (const { sandboxId } of await list.nextItems()) ids.push(sandboxId)
      return ids
    },
    open: (name, config = {}, options = {}) => {
      const { url, apiKey: token } = parts.setup.server
      const { env, template } = parts.setup
      const harness = openHarness({
        config: {
          provider: 'e2b',
          network: { mode: 'allow-all' },
          permissionMode: 'bypass',
          ...config,
          options: { apiKey: env['E2B_API_KEY'], template, ...config.options },
        },
        ...(name !== undefined && { workspace: { name, server: url, token } }),
        store: parts.store,
        ...options,
        e2b: {
          apiUrl: env['E2B_API_URL']!,
          sandboxUrl: env['E2B_SANDBOX_URL']!,
          serverInside: parts.setup.serverInside,
          ...options.e2b,
        },
      })
      opened.push(harness)
      return harness
    },
  }
}
