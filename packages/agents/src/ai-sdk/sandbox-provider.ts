import type { Experimental_SandboxSession as SandboxSession } from 'ai'
import type { Sandbox } from '@cairn/sandbox'
import type { LayerInfo, Workspace } from '@cairn/sdk'
import { hostUrl } from '../exec/host-url.ts'
import { openWorkspace, type SandboxSource } from '../exec/sandbox-source.ts'
import { findLayer } from '../find-layer.ts'
import { hashText } from '../hash-text.ts'
import { sandboxSession } from './sandbox-session.ts'

export { sandboxSession } from './sandbox-session.ts'
export { cairnToolCalls } from './tool-calls.ts'

/** The types of `@ai-sdk/harness`, which need not be installed for `generateText`. */
export interface NetworkSandboxSession extends SandboxSession {
  readonly id: string
  readonly defaultWorkingDirectory: string
  readonly ports: readonly number[]
  readonly getPortEndpoint: (options: PortOptions) => Promise<{ readonly url: string }>
  readonly getPortUrl: (options: PortOptions) => Promise<string>
  readonly stop: () => Promise<void>
  readonly destroy: () => Promise<void>
  readonly restricted: () => SandboxSession
}

interface PortOptions {
  port: number
  protocol?: 'http' | 'https' | 'ws'
}

interface SessionOptions {
  sessionId?: string
  abortSignal?: AbortSignal
  identity?: string
  onFirstCreate?: (session: SandboxSession, options: { abortSignal?: AbortSignal }) => Promise<void>
}

export interface CairnSandboxProvider {
  readonly specificationVersion: 'harness-sandbox-v1'
  readonly providerId: string
  readonly createSession: (options?: SessionOptions) => Promise<NetworkSandboxSession>
  readonly resumeSession: (options: {
    sessionId: string
    abortSignal?: AbortSignal
  }) => Promise<NetworkSandboxSession>
}

export interface CairnSandboxesOptions extends SandboxSource {
  /** Ports that machines show, where they can. */
  readonly ports?: readonly number[]
}

/**
 * Sandboxes for agents of the AI SDK, each on a layer of its own: it outlives the machine, and is committed or dropped
 * afterwards. What `onFirstCreate` makes in the workspace is made once for each `identity`; later sessions start from a
 * fork of it.
 *
 * @example
 * ```ts
 * const sandbox = cairnSandboxes({ workspace, make: (workspace) => new E2BSandbox({ template: 'cairn', workspace }) })
 * const agent = new HarnessAgent({ harness: claudeCode, sandbox })
 * ```
 */
export function cairnSandboxes(options: CairnSandboxesOptions): CairnSandboxProvider {
  const building = new Map<string, Promise<Point>>()
  const { layers } = openWorkspace(options.workspace)
  const prepared = ({ identity, onFirstCreate, abortSignal }: SessionOptions): Promise<Point> => {
    const known = building.get(identity!)
    if (known !== undefined) return known
    const point = findOrBuild(options, layers, identity!, async (session) =>
      onFirstCreate?.(session, { ...(abortSignal && { abortSignal }) }),
    )
    building.set(identity!, point)
    // The next session tries again.
    point.catch(() => building.delete(identity!))
    return point
  }
  return {
    specificationVersion: 'harness-sandbox-v1',
    providerId: 'cairn',
    createSession: async (asked = {}) => {
      const { sessionId, abortSignal } = asked
      abortSignal?.throwIfAborted()
      const name = sessionId === undefined ? {} : { name: nameOf(sessionId) }
      const found = name.name === undefined ? undefined : await findLayer(layers, name.name)
      if (found !== undefined) return openSession(options, found)
      const point = asked.identity === undefined ? undefined : await prepared(asked)
      const path = options.workspace.path ?? '/'
      const layer = point
        ? await layers.fork(point.layer, { at: point.checkpoint, ...name })
        : await layers.create(path, name)
      return openSession(options, layer)
    },
    resumeSession: async ({ sessionId, abortSignal }) => {
      abortSignal?.throwIfAborted()
      return openSession(options, await layers.status(nameOf(sessionId)))
    },
  }
}

interface Point {
  readonly layer: string
  readonly checkpoint: string
}

const ready = 'ready'

/** A layer that was prepared for an identity. One that was cut off in the middle has no such checkpoint and is left alone. */
async function findOrBuild(
  options: CairnSandboxesOptions,
  layers: Workspace['layers'],
  identity: string,
  build: (session: SandboxSession) => Promise<void>,
): Promise<Point> {
  const key = hashText(identity)
  for await (const { id } of layers.list({ tag: `identity=${key}`, state: 'open' }))
    for await (const { id: checkpoint, label } of layers.checkpoints(id))
      if (label === ready) return { layer: id, checkpoint }
  const layer = await layers.create(options.workspace.path ?? '/', { tags: { identity: key } })
  const session = await openSession(options, layer)
  await build(session.restricted())
  await session.stop()
  return { layer: layer.id, checkpoint: (await layers.checkpoint(layer.id, { label: ready })).id }
}

async function openSession(
  options: CairnSandboxesOptions,
  layer: LayerInfo,
): Promise<NetworkSandboxSession> {
  const sandbox = options.make({ ...options.workspace, layer: layer.id, path: layer.path })
  await sandbox.init()
  const session = sandboxSession(sandbox)
  const url = async ({ port, protocol }: PortOptions): Promise<string> =>
    urlOf(sandbox, port, protocol)
  const stop = (): Promise<void> => sandbox.dispose()
  return {
    ...session,
    id: layer.id,
    defaultWorkingDirectory: sandbox.workDir,
    ports: options.ports ?? [],
    getPortUrl: url,
    getPortEndpoint: async (port) => ({ url: await url(port) }),
    stop,
    destroy: async () => {
      await stop()
      const { layers } = openWorkspace(options.workspace)
      // Given up, and not deleted: it can be opened again, and garbage collection knows when.
      if ((await layers.status(layer.id)).state === 'open') await layers.abandon(layer.id)
    },
    restricted: () => session,
  }
}

function urlOf(sandbox: Sandbox, port: number, protocol?: string): string {
  const url = hostUrl(sandbox, port)
  return protocol === 'ws' ? url.replace(/^http/, 'ws') : url
}

function nameOf(sessionId: string): string {
  return `ai-session-${hashText(sessionId)}`
}
